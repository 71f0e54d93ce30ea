# The guest as a server: the Linux kernel's own, exporting a fresh file system of the type FILE_SYSTEM as /mnt/s, until
# the host says that it is enough. Meanwhile the guest's own client contends for a file where the host asks for it.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/nfsd.sh"
tell_host serving

# contend KIND FILE ROUNDS: on a mount of our own.
contend() {
    mkdir -p /mnt/n
    mountpoint -q /mnt/n || mount -t nfs -o vers=4.2 127.0.0.1:/ /mnt/n
    perl "$WORK/scripts/contend.pl" "$1" "/mnt/n/$2" "$WORK/holder-$1" "$3"
}

until [ -e "$WORK/stop-serving" ]; do
    if [ -s "$WORK/contend" ]; then
        read -r kind file rounds <"$WORK/contend"
        rm "$WORK/contend"
        code=0
        (contend "$kind" "$file" "$rounds") || code=$?
        tell_host contended "$code"
    fi
    sleep 0.2
done
if mountpoint -q /mnt/n; then umount /mnt/n; fi
