# The export of the Linux kernel's server, which speaks only NFSv4 and runs in this guest, too, through howdah on the host, which is killed.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
command -v rpc.nfsd >/dev/null || skip "rpc.nfsd is not installed"
FILE_SYSTEM=tmpfs TMPFS_SIZE=400M NFS4=only
. "$WORK/scripts/nfsd.sh"
relay_killed "nfs://$GUEST_ADDRESS/?version=4" /mnt/s "sh -c"
