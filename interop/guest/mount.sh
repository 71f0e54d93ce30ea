# The mount itself: it is version 3, files go both ways, and it can be undone.
. "$WORK/scripts/lib.sh"
mount_export
grep ' /mnt/n nfs ' /proc/mounts | grep -q 'vers=3' || fail "not a version 3 mount"
[ -z "${WANT_OPTION:-}" ] || grep ' /mnt/n nfs ' /proc/mounts | grep -q "$WANT_OPTION" || fail "no $WANT_OPTION"
echo "howdah" >/mnt/n/hello
drop_caches
equal "$(cat /mnt/n/hello)" howdah "contents"
remount
equal "$(cat /mnt/n/hello)" howdah "contents after another mount"
expect_on_server hello
umount /mnt/n
