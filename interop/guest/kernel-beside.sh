# The guest's own kernel serves a file system on a disk of its memory, to see what a suite says of it.
/run/modprobe loop || :
mkdir -p /run/image
mount -t tmpfs -o size=600m tmpfs /run/image
truncate -s 512M /run/image/disk
mkfs.ext4 -q /run/image/disk
mkdir -p /mnt/s /run/rpcbind /var/lib/nfs/v4recovery
/run/modprobe ext4 || :
mount -o loop /run/image/disk /mnt/s
chmod 777 /mnt/s
mount --bind /dev/null /etc/nfs.conf
/run/modprobe nfsd
mount -t nfsd nfsd /proc/fs/nfsd
: >/var/lib/nfs/etab
: >/var/lib/nfs/rmtab
pgrep -x rpcbind >/dev/null || rpcbind -w
exportfs -o rw,async,no_root_squash,insecure,fsid=0,no_subtree_check '*:/mnt/s'
rpc.mountd --port 20048
echo 5 >/proc/fs/nfsd/nfsv4gracetime || :
rpc.nfsd --tcp 8
sleep 6
MOUNT_SOURCE=127.0.0.1:/
case $MOUNT_OPTIONS in vers=3*) MOUNT_SOURCE=127.0.0.1:/mnt/s ;; esac
