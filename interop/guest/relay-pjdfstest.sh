# pjdfstest through howdah's caches on another howdah's export.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
relay "nfs://127.0.0.1:2049/" --set-id
mount_export
# As without a relay: the client renames an open file that is removed, and version 3 has no times after 2106.
MOUNTED=/mnt/n ACCEPTED="unlink/14.t 4
utimensat/09.t 5"
. "$WORK/scripts/suite-pjdfstest.sh"
umount /mnt/n
