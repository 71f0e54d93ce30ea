# The server is killed and started again: a lock is reclaimed, and nobody gets it meanwhile.
. "$WORK/scripts/lib.sh"
start_statd
mount_export "$MOUNT_OPTIONS,nosharecache"
mkdir -p /run/other
mount -t nfs -o "$MOUNT_OPTIONS,nosharecache" "$MOUNT_SOURCE" /run/other
: >/mnt/n/file
: >/mnt/n/free
hold /mnt/n/file first
on_host "pgrep -o -x howdah >'$WORK/before'"
tell_host kill-server
until on_host "pgrep -o -x howdah >'$WORK/after' && ! cmp -s '$WORK/before' '$WORK/after'"; do sleep 0.1; done
# A new lock waits until those that were held may no longer be reclaimed.
start=$(seconds)
timeout 60 flock /mnt/n/free true || fail "no lock after the server's restart"
note "a new lock came $(($(seconds) - start)) s after the restart"
if flock -n /run/other/file true; then fail "the lock was not reclaimed"; fi
if dmesg | grep -i 'failed to reclaim'; then fail "the client reclaimed nothing"; fi
let_go first
wait
timeout 10 flock /run/other/file true || fail "the lock is not free"
umount /run/other
umount /mnt/n
