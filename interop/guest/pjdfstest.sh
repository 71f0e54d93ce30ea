# pjdfstest on howdah's export. With KERNEL=1 the guest's own kernel serves, to compare.
. "$WORK/scripts/lib.sh"
[ "$KERNEL" = 0 ] || . "$WORK/scripts/kernel-beside.sh"
mount_export
# unlink/14: a client renames an open file that is removed, so its link count stays 1.
MOUNTED=/mnt/n ACCEPTED="unlink/14.t 4"
# utimensat/09: version 3 has no times after 2106.
case $MOUNT_OPTIONS in vers=3*) ACCEPTED="$ACCEPTED
utimensat/09.t 5" ;; esac
. "$WORK/scripts/suite-pjdfstest.sh"
umount /mnt/n
