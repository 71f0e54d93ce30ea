# A client that was mounted without nolock gets ENOLCK for its locks at once. It runs statd, as a mount without nolock needs.
. "$WORK/scripts/lib.sh"
mkdir -p /var/lib/nfs/sm /var/lib/nfs/sm.bak
rpcbind -w
rpc.statd --no-notify
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
