# Connectathon through howdah's caches on another howdah's export. Without its lock tests: locks are the client's own (nolock).
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
relay "nfs://127.0.0.1:2049/"
mount_export
MOUNTED=/mnt/n PARTS="b g s"
. "$WORK/scripts/suite-connectathon.sh"
umount /mnt/n
