# Connectathon on howdah's export, with locks.
. "$WORK/scripts/lib.sh"
case $MOUNT_OPTIONS in vers=3*) start_statd ;; esac
mount_export
MOUNTED=/mnt/n PARTS="b g s l"
. "$WORK/scripts/suite-connectathon.sh"
umount /mnt/n
