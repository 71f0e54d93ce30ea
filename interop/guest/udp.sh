# NFS itself over UDP, which most kernels are built without: they call it an incorrect option, before any packet.
. "$WORK/scripts/lib.sh"
if ! message=$(mount_export 2>&1); then
    case $message in
    *"incorrect mount option"* | *"not supported"*)
        skip "the guest's kernel does not do NFS over UDP, and says: ${message#mount.nfs: }" ;;
    esac
    fail "$message"
fi
echo "howdah" >/mnt/n/hello
drop_caches
equal "$(cat /mnt/n/hello)" howdah "contents"
expect_on_server hello
