# Version 4 is refused at once and in so many words; a mount that names no version tries 4 first, then takes 3.
. "$WORK/scripts/lib.sh"
start=$(seconds)
for version in 4.2 4.1 4.0; do
    refused "Protocol not supported" mount -t nfs -o "vers=$version,port=$PORT" "$MOUNT_SOURCE" /mnt/n
done
mount_export
grep ' /mnt/n nfs ' /proc/mounts | grep -q 'vers=3' || fail "not a version 3 mount"
grep -q 'vers=4' "$WORK/log/mount.txt" || fail "this client never tried version 4"
[ $(($(seconds) - start)) -lt 15 ] || fail "it took $(($(seconds) - start)) s"
ls /mnt/n
