# The client's root is the anonymous user here, other users are themselves.
. "$WORK/scripts/lib.sh"
mount_export
cd /mnt/n
touch roots
equal "$(stat -c %u:%g roots)" 65534:65534 "owner of what root makes"
refused "ot permitted" chown 1000 roots
as 1000 touch users
equal "$(stat -c %u:%g users)" 1000:1000 "owner of what a user makes"
as 1000 chmod 600 users
refused "Permission denied" cat users
cd /
