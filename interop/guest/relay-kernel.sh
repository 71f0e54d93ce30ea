# The export of the Linux kernel's server, which runs in this guest, too, through howdah on the host.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
command -v rpc.nfsd >/dev/null || skip "rpc.nfsd is not installed"
FILE_SYSTEM=tmpfs TMPFS_SIZE=400M
. "$WORK/scripts/nfsd.sh"
relay "nfs://$GUEST_ADDRESS/mnt/s?nfsport=2049&mountport=20048"
through_relay
equal "$(sha256sum </mnt/s/large)" "$(sha256sum </mnt/n/large)" "checksum of the file on the origin"
