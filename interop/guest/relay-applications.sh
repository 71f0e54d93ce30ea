# Programs through howdah's caches on another howdah's export.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
relay "nfs://127.0.0.1:2049/"
mount_export
MOUNTED=/mnt/n
. "$WORK/scripts/suite-applications.sh"
