# CephFS in this namespace (a monitor, a manager, an object store in memory, a metadata server), mounted by ceph-fuse, and two heads on it.
HOST=10.98.0.1
# Files are at most 1 TiB long, holes count as storage, and the links of a directory as of a moment ago.
NOT_PASSED="attributes: a_directory_counts_its_children_or_never
holes: offsets_have_64_bits
holes: a_hole_takes_no_storage
ranges: a_punched_range_takes_no_storage"

start_cluster() {
    ip addr add $HOST/24 dev lo
    CEPH=$WORK/ceph
    mkdir "$CEPH"
    export CEPH_CONF="$CEPH/ceph.conf"
    cluster=$(cat /proc/sys/kernel/random/uuid)
    store=$(cat /proc/sys/kernel/random/uuid)
    cat >"$CEPH_CONF" <<EOF
[global]
fsid = $cluster
mon host = v2:$HOST:3300
auth cluster required = none
auth service required = none
auth client required = none
run dir = $CEPH
log file = $WORK/log/ceph-\$name.txt
admin socket =
pid file = $CEPH/\$name.pid
crash dir = $CEPH
mon data = $CEPH/mon
osd data = $CEPH/osd
mds data = $CEPH/mds
mgr data = $CEPH/mgr
public addr = $HOST
cluster addr = $HOST
ms bind msgr1 = false
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 2147483648
mgr initial modules =
[client]
# Else ceph-fuse judges by itself, and lets through or refuses what the kernel would not.
fuse default permissions = true
[mds]
# "ceph tell" is answered only by a daemon that has one.
admin socket = $CEPH/mds.socket
EOF
    mkdir "$CEPH/mon" "$CEPH/osd" "$CEPH/mds" "$CEPH/mgr"
    ceph-mon -i a --mkfs --fsid "$cluster" >>"$WORK/log/ceph-mkfs.txt" 2>&1
    background ceph-mon.txt ceph-mon -i a -f
    until_true timeout 20 ceph mon stat
    ceph osd new "$store"
    # The monitor takes the object store by this number alone.
    ceph-osd -i 0 --mkfs --osd-uuid "$store" >>"$WORK/log/ceph-mkfs.txt" 2>&1
    background ceph-osd.txt ceph-osd -i 0 -f
    background ceph-mgr.txt ceph-mgr -i x -f
    ceph osd pool create meta 8
    ceph osd pool create data 8
    ceph fs new files meta data
    background ceph-mds.txt ceph-mds -i a -f
    until_true sh -c 'timeout 20 ceph mds stat | grep -q up:active'
}

mount_cluster() {
    mkdir -p "$1"
    background "ceph-fuse$2.txt" ceph-fuse -f --id admin "$1"
    echo $! >"$WORK/mount$2.pid"
    until_true mountpoint -q "$1"
}

cluster_is_ready() { ceph osd stat | grep -q '1 up'; }

# A client that ends without a word keeps its capabilities for a minute, and others wait for them.
fence_mount() { ceph tell mds.a client evict "client_metadata.mount_point=$1"; }

. "$WORK/scripts/heads-lib.sh"
