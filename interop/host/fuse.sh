# What the jobs on a `howdah mount` share.
. "$WORK/scripts/lib.sh"
{ : <>/dev/fuse; } 2>/dev/null || skip "/dev/fuse cannot be opened"
MOUNTED=$WORK/mounted
mkdir -p "$MOUNTED" "$WORK/tmp"
export TMPDIR=$WORK/tmp

# fuse [OPTION,…]: the export on MOUNTED.
fuse() {
    OPTIONS=${1:-}
    "$HOWDAH" mount "nfs://127.0.0.1:$PORT$EXPORT_NAME" "$MOUNTED" ${OPTIONS:+-o "$OPTIONS"} --state "$WORK/mounts"
}

unmount() { "$HOWDAH" umount "$MOUNTED" --state "$WORK/mounts"; }

# What the mount and the kernel have cached is gone, so that the next read asks the server.
drop_caches() {
    unmount
    fuse "$OPTIONS"
}

seconds() { cut -d. -f1 /proc/uptime; }

# expect_on_server FILE…: compared with these files in the export once we are done.
expect_on_server() { (cd "$MOUNTED" && sha256sum "$@") >>"$WORK/expected.sha256"; }
