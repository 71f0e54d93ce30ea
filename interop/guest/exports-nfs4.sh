# The export stands under a path: directories lead to it from the root of all exports.
. "$WORK/scripts/lib.sh"
mount_export
echo "data" >/mnt/n/file
umount /mnt/n
mount -t nfs -o "$MOUNT_OPTIONS" "${MOUNT_SOURCE%%:/*}:/" /mnt/n
equal "$(ls /mnt/n)" srv "the root"
equal "$(ls -a /mnt/n/srv | tr '\n' ' ')" ". .. data " "the directory that leads on"
equal "$(cat /mnt/n/srv/data/file)" data "contents"
refused "Read-only file system" mkdir /mnt/n/new
refused "No such file" ls /mnt/n/other
umount /mnt/n/srv/data 2>/dev/null || true
umount /mnt/n
