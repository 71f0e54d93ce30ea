# MooseFS in this namespace (a master, two chunkservers), and two heads on it.
MASTER=10.98.0.1

start_cluster() {
    ip addr add $MASTER/24 dev lo
    mkdir -p "$WORK/mfs/master"
    cp /var/lib/mfs/metadata.mfs.empty "$WORK/mfs/master/metadata.mfs"
    echo '* / rw,alldirs,admin,maproot=0:0' >"$WORK/mfs/exports.cfg"
    : >"$WORK/mfs/topology.cfg"
    cat >"$WORK/mfs/master.cfg" <<EOF
WORKING_USER = root
WORKING_GROUP = root
NICE_LEVEL = 0
DATA_PATH = $WORK/mfs/master
EXPORTS_FILENAME = $WORK/mfs/exports.cfg
TOPOLOGY_FILENAME = $WORK/mfs/topology.cfg
MATOML_LISTEN_HOST = $MASTER
MATOCS_LISTEN_HOST = $MASTER
MATOCL_LISTEN_HOST = $MASTER
EOF
    background mfs-master.txt mfsmaster -c "$WORK/mfs/master.cfg" -f start
    until_true grep -q 'initialized properly' "$WORK/log/mfs-master.txt"
    for number in 1 2; do
        mkdir -p "$WORK/mfs/chunks$number" "$WORK/mfs/server$number"
        echo "$WORK/mfs/chunks$number" >"$WORK/mfs/disks$number.cfg"
        cat >"$WORK/mfs/server$number.cfg" <<EOF
WORKING_USER = root
WORKING_GROUP = root
NICE_LEVEL = 0
DATA_PATH = $WORK/mfs/server$number
HDD_CONF_FILENAME = $WORK/mfs/disks$number.cfg
HDD_LEAVE_SPACE_DEFAULT = 64MiB
MASTER_HOST = $MASTER
BIND_HOST = $MASTER
CSSERV_LISTEN_HOST = $MASTER
CSSERV_LISTEN_PORT = 94${number}2
EOF
        background "mfs-server$number.txt" mfschunkserver -c "$WORK/mfs/server$number.cfg" -f start
    done
}

# Without caches of names and attributes, one head sees at once what another does.
mount_cluster() {
    mkdir -p "$1"
    background mfs-mount.txt mfsmount -H $MASTER -f "$1" -o mfsnice=0,mfsattrcacheto=0,mfsentrycacheto=0,mfsdirentrycacheto=0
    echo $! >"$WORK/mount$2.pid"
    until_true mountpoint -q "$1"
}

# The size of the cluster is that of the chunkservers that have reached the master.
cluster_is_ready() { [ "$(grep -c 'register end' "$WORK/log/mfs-master.txt")" -ge 2 ]; }

# Nobody waits for a dead client.
fence_mount() { :; }

. "$WORK/scripts/heads-lib.sh"
