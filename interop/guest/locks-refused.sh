# Where the server's host has a status monitor of its own, a client that was mounted without nolock gets ENOLCK for its locks at once.
. "$WORK/scripts/lib.sh"
# It does not start where another one is registered, and howdah's is.
on_host "pgrep -o -x howdah >'$WORK/before'; command -v rpc.statd" || skip "no rpc.statd on the host"
on_host "mkdir -p '$WORK/statd/sm' '$WORK/statd/sm.bak'; rpcinfo -d 100024 1; rpc.statd --no-notify -P '$WORK/statd'" ||
    fail "rpc.statd does not start on the host"
tell_host restart-server
until on_host "pgrep -o -x howdah >'$WORK/after' && ! cmp -s '$WORK/before' '$WORK/after'"; do sleep 0.1; done
start_statd
mount_export
! grep ' /mnt/n ' /proc/mounts | grep -q 'local_lock=all' || fail "locks are local here"
: >/mnt/n/file
start=$(seconds)
for how in "flock -n" "flock" "flock -s"; do
    refused "No locks available" timeout 60 $how /mnt/n/file true
done
refused "No locks available" timeout 60 perl -e '
    use Fcntl; open my $file, "+<", "/mnt/n/file" or die $!;
    fcntl($file, F_SETLK, pack("s s q q i x4", F_WRLCK, SEEK_SET, 0, 0, 0)) or die "$!\n"'
[ $(($(seconds) - start)) -lt 10 ] || fail "it took $(($(seconds) - start)) s"
echo "data" >>/mnt/n/file
umount /mnt/n
