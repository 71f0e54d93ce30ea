# MooseFS in this namespace (a master, two chunkservers), and two heads, each with a mount and a network namespace of its own. The
# address of the service is $SERVER_ADDRESS; head N has 10.99.0.1N besides. The job asks by files in $WORK:
#   move     the head that serves loses its network and is killed; with "host" in the file, its mount's daemon is killed too. The
#            other one gets the address: then the file is gone. With "address" in it, the head that serves loses no more than that.
#   conform  the conformance suite runs on the mount of head 1. Its report is in conformed then.
MASTER=10.98.0.1
fail() { echo "failed: $*"; exit 1; }
until_true() { for _ in $(seq 600); do if "$@" >/dev/null 2>&1; then return; fi; sleep 0.1; done; fail "never came true: $*"; }
background() { log=$WORK/log/$1; shift; setpriv --pdeathsig KILL -- "$@" >>"$log" 2>&1 & }
on_head() { head=$1; shift; nsenter --net="/run/netns/head$head" -- "$@"; }

start_moosefs() {
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
mount_moosefs() {
    mkdir -p "$1"
    background mfs-mount.txt mfsmount -H $MASTER -f "$1" -o mfsnice=0,mfsattrcacheto=0,mfsentrycacheto=0,mfsdirentrycacheto=0
    echo $! >"$WORK/mount$2.pid"
    until_true mountpoint -q "$1"
}

# The network of a head's host.
make_network() {
    ip netns add "head$1"
    ip link add "head$1" type veth peer name eth0 netns "head$1"
    ip link set "head$1" master heads up
    on_head "$1" ip link set lo up
    on_head "$1" ip addr add "10.99.0.1$1/24" dev eth0
    on_head "$1" sysctl -q -w net.ipv4.conf.eth0.arp_notify=1
    on_head "$1" ip link set eth0 up
}

make_head() {
    make_network "$1"
    cat >"$WORK/head$1.toml" <<EOF
state = "$WORK/state$1"
lease = $LEASE
[cluster]
id = "interop"
key_file = "$WORK/cluster.key"
records = "$WORK/mount$1/heads"
[[export]]
name = "$EXPORT_NAME"
path = "$WORK/mount$1/data"
squash = "none"
EOF
    start_head "$1"
}

start_head() {
    : >"$WORK/log/head$1.txt"
    background "head$1.txt" nsenter --net="/run/netns/head$1" -- "$HOWDAH" serve --config "$WORK/head$1.toml"
    echo $! >"$WORK/head$1.pid"
    until_true grep -q '^Stop: ' "$WORK/log/head$1.txt"
}

# Its network goes first, as that of a host which loses its power: no connection is closed.
kill_head() {
    on_head "$1" ip link set eth0 down
    kill -KILL "$(cat "$WORK/head$1.pid")"
    [ "$2" != host ] || kill -KILL "$(cat "$WORK/mount$1.pid")"
}

# As for planned work on a host: the head lives on.
take_address() { on_head "$1" ip addr del "$SERVER_ADDRESS/24" dev eth0; }

# The neighbours are told by gratuitous ARP, which the kernel sends when a hardware address is set, if only to what it was. As
# keepalived does, again and again.
give_address() {
    on_head "$1" ip addr add "$SERVER_ADDRESS/24" dev eth0
    hardware=$(on_head "$1" ip -o link show eth0 | sed 's/.*link.ether \([^ ]*\).*/\1/')
    on_head "$1" ip link set eth0 address "$hardware"
    (for _ in 1 2 3; do sleep 0.3; on_head "$1" ip link set eth0 address "$hardware"; done) &
}

# A head with the state directory of another one, which lives, does not start.
refuse_copy() {
    cp -a "$WORK/state$1" "$WORK/copied"
    sed "s|^state = .*|state = \"$WORK/copied\"|" "$WORK/head$1.toml" >"$WORK/copied.toml"
    ip netns add copied
    if nsenter --net=/run/netns/copied -- timeout 30 "$HOWDAH" serve --config "$WORK/copied.toml" >"$WORK/log/copied.txt" 2>&1; then
        fail "a head with a copied state directory served"
    fi
    grep 'the state directory was copied' "$WORK/log/copied.txt" || fail "a copied state directory was not noticed: see log/copied.txt"
    ip netns del copied
}

# Connections that the killed head could not close any more must not be there when the address comes back: after a start of the host
# they are not, and here its network is made anew. Else they would answer in the place of a reset, for two minutes.
revive_head() {
    ip link del "head$1"
    ip netns del "head$1"
    make_network "$1"
    cat "$WORK/log/head$1.txt" >>"$WORK/log/heads-killed.txt"
    if [ "$2" = host ]; then
        umount -l "$WORK/mount$1"
        mount_moosefs "$WORK/mount$1" "$1"
    fi
    start_head "$1"
}

"$HOWDAH" cluster-key "$WORK/cluster.key"
start_moosefs
ip link add heads type bridge
ip link set guest0 master heads
ip link set heads up
ip addr add 10.99.0.9/24 dev heads
mount_moosefs "$WORK/mount0" 0
until_true mkdir -p "$WORK/mount0/data"
mount --bind "$WORK/mount0/data" "$WORK/export"
for number in 1 2; do
    mount_moosefs "$WORK/mount$number" "$number"
done
# The size of the cluster is that of the chunkservers that have reached the master.
until_true sh -c "[ \$(grep -c 'register end' '$WORK/log/mfs-master.txt') -ge 2 ]"
until_true sh -c "echo tried >'$WORK/export/tried' && sync '$WORK/export/tried'"
chmod 777 "$WORK/export"
for number in 1 2; do make_head $number; done
# Free space of the disk under all this is part of the size, and may change between two looks.
until_true "$HOWDAH" check --cluster 10.99.0.11 10.99.0.12
refuse_copy 2
# The mounts themselves agree.
stat -c '%i %n' "$WORK"/mount1/data/tried "$WORK"/mount2/data/tried
[ "$(stat -c %i "$WORK/mount1/data/tried")" = "$(stat -c %i "$WORK/mount2/data/tried")" ] || fail "a file has two numbers"
have_one_size() { [ "$(stat -f -c '%b %S' "$WORK/mount1")" = "$(stat -f -c '%b %S' "$WORK/mount2")" ]; }
until_true have_one_size
give_address 1
serving=1
: >"$WORK/ready"
while :; do
    if [ -e "$WORK/move" ]; then
        how=$(cat "$WORK/move")
        before=$serving serving=$((3 - serving))
        if [ "$how" = address ]; then take_address $before; else kill_head $before "$how"; fi
        give_address $serving
        rm "$WORK/move"
        [ "$how" = address ] || revive_head $before "$how"
        "$HOWDAH" clients --state "$WORK/state$serving" >"$WORK/log/clients.txt" 2>&1 || :
        : >"$WORK/revived"
    fi
    if [ -e "$WORK/conform" ]; then
        rm "$WORK/conform"
        "$TOOL" conform "$WORK/mount1/suite" >"$WORK/conformed.new" || fail "the suite: see log/heads.txt"
        mv "$WORK/conformed.new" "$WORK/conformed"
    fi
    kill -0 "$(cat "$WORK/head$serving.pid")" || fail "head $serving ended by itself"
    sleep 0.02
done
