# Runs the scripts that the host names on the serial line, one at a time, and says on it how each ended: its number, its
# exit code, and this guest's clock before and after.
mknod /run/line c 4 64
exec 3<>/run/line
stty raw -echo <&3
now() { date +%s.%N; }
echo "ready $(now)" >&3
while read -r word number <&3; do
    case $word in
    run)
        began=$(now)
        code=0
        sh -eu "$WORK/scripts/$number.sh" >"$WORK/log/$number.txt" 2>&1 </dev/null 3>&- || code=$?
        echo "ended $number $code $began $(now)" >&3
        ;;
    halt) break ;;
    esac
done
