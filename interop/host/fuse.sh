# What the jobs on a `howdah mount` share.
. "$WORK/scripts/lib.sh"
{ : <>/dev/fuse; } 2>/dev/null || skip "/dev/fuse cannot be opened"
MOUNTED=$WORK/mounted
mkdir -p "$MOUNTED" "$WORK/tmp"
export TMPDIR=$WORK/tmp

# fuse [OPTION,…]: the export on MOUNTED. Where NFS42 is 1, over NFSv4.2. Where BEHIND is 1, names are written behind.
fuse() {
    ASKED=${1:-}
    OPTIONS=$ASKED
    if [ "${BEHIND:-0}" = 1 ]; then OPTIONS=${OPTIONS:+$OPTIONS,}behind,journal=$WORK/journal; fi
    if [ "${NFS42:-0}" = 1 ]; then OPTIONS=${OPTIONS:+$OPTIONS,}vers=4.2; fi
    "$HOWDAH" mount "${MOUNT_URL:-nfs://127.0.0.1:$PORT$EXPORT_NAME}" "$MOUNTED" ${OPTIONS:+-o "$OPTIONS"} --state "$WORK/mounts"
}

unmount() {
    if [ "${BEHIND:-0}" = 1 ]; then "$HOWDAH" sync "$MOUNTED" --state "$WORK/mounts"; fi
    "$HOWDAH" umount "$MOUNTED" --state "$WORK/mounts"
}

# What the mount and the kernel have cached is gone, so that the next read asks the server.
drop_caches() {
    unmount
    fuse "$ASKED"
}

seconds() { cut -d. -f1 /proc/uptime; }

# expect_on_server FILE…: compared with these files in the export once we are done.
expect_on_server() { (cd "$MOUNTED" && sha256sum "$@") >>"$WORK/expected.sha256"; }
