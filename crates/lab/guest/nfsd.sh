# Starts the Linux kernel's NFS server on a fresh file system of the type FILE_SYSTEM (TMPFS_SIZE=… if it is a tmpfs), as /mnt/s;
# with DURABILITY=sync what it answers is durable, with SECURITY=krb5:… it takes those flavors alone, with NFS4=yes it speaks NFSv4,
# too, whose root this is then, and with NFS4=only nothing else.
mkdir -p /mnt/s /run/rpcbind /run/modules /var/lib/nfs/v4recovery
case $FILE_SYSTEM in
tmpfs) mount -t tmpfs ${TMPFS_SIZE:+-o "size=$TMPFS_SIZE"} tmpfs /mnt/s ;;
*)
    /run/modprobe "$FILE_SYSTEM" || :
    mount -t "$FILE_SYSTEM" /dev/ubda /mnt/s
    ;;
esac
chmod 777 /mnt/s
# What Debian configures there would have the server look for a user's groups itself, among the users of this machine.
mount --bind /dev/null /etc/nfs.conf
/run/modprobe nfsd
mount -t nfsd nfsd /proc/fs/nfsd
: >/var/lib/nfs/etab
: >/var/lib/nfs/rmtab
rpcbind -w
case ${NFS4:-no} in no) id=1 ;; *) id=0 ;; esac
exportfs -v -o rw,${DURABILITY:-async},no_root_squash,insecure,fsid=$id,no_subtree_check${SECURITY:+,sec=$SECURITY} '*:/mnt/s'
rpc.mountd --port 20048
case ${NFS4:-no} in
no) rpc.nfsd --tcp --udp --no-nfs-version 4 8 ;;
*)
    # Nobody has anything to reclaim.
    for time in lease grace; do echo 10 >/proc/fs/nfsd/nfsv4${time}time; done
    case $NFS4 in only) nfs3=--no-nfs-version=3 ;; *) nfs3=--udp ;; esac
    rpc.nfsd --tcp "$nfs3" 8
    ;;
esac
cat /proc/fs/nfsd/versions /proc/fs/nfsd/portlist
