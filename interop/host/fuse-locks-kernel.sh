# Programs on two mounts by FUSE of the kernel's server, and on the kernel's own client of it, contend for files, by fcntl and by flock: there
# are never two holders, and no count is lost. The server's guest is that client (`serve.sh`).
. "$WORK/scripts/fuse.sh"
OTHER=$WORK/other
mkdir -p "$OTHER"
for place in "$MOUNTED" "$OTHER"; do
    "$HOWDAH" mount "$MOUNT_URL" "$place" -o vers=4.2,lock --state "$WORK/mounts"
done

began=$(seconds)
for kind in fcntl flock; do
    file=by-$kind
    : >"$MOUNTED/$file"
    echo "$kind $file $ROUNDS" >"$WORK/contend.new"
    mv "$WORK/contend.new" "$WORK/contend"
    for place in "$MOUNTED" "$OTHER"; do
        perl "$WORK/scripts/contend.pl" "$kind" "$place/$file" "$WORK/holder-$kind" "$ROUNDS" &
        running="${running:-} $!"
    done
    for process in $running; do wait "$process" || fail "contending by $kind"; done
    running=""
    until [ -s "$WORK/contended" ]; do sleep 0.1; done
    equal "$(cat "$WORK/contended")" 0 "the kernel's own client, by $kind"
    rm "$WORK/contended"
    equal "$(cat "$OTHER/$file")" $((3 * ROUNDS)) "what was counted under $kind"
done
note "took $(($(seconds) - began)) s"
"$HOWDAH" umount "$OTHER" --state "$WORK/mounts"
unmount
