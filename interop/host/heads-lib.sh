# Two heads on a cluster file system in this namespace, each with a mount and a network namespace of its own. The script of a cluster
# file system has made these, and reads this file last:
#   start_cluster         starts it
#   mount_cluster PATH N  mounts it; the process that serves the mount is in $WORK/mountN.pid
#   cluster_is_ready      whether all of it is there
#   NOT_PASSED            cases of the conformance suite that it may not pass, one a line
#   fence_mount PATH      tells the cluster that the process which served this mount is dead, if others would wait for it
# The address of the service is $SERVER_ADDRESS; head N has 10.99.0.1N besides. The job asks by files in $WORK:
#   move     the head that serves loses its network and is killed; with "host" in the file, its mount's daemon is killed too. The
#            other one gets the address: then the file is gone. With "address" in it, the head that serves loses no more than that.
#   conform  the conformance suite runs on the mount of head 1. Its report is in conformed then.
fail() { echo "failed: $*"; exit 1; }
until_true() { for _ in $(seq 600); do if "$@" >/dev/null 2>&1; then return; fi; sleep 0.1; done; fail "never came true: $*"; }
background() { log=$WORK/log/$1; shift; setpriv --pdeathsig KILL -- "$@" >>"$log" 2>&1 & }
on_head() { head=$1; shift; nsenter --net="/run/netns/head$head" -- "$@"; }

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
addresses = ["$SERVER_ADDRESS"]
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
    [ "$2" = host ] || return 0
    kill -KILL "$(cat "$WORK/mount$1.pid")"
    # As what fences a host does, while the address moves.
    fence_mount "$WORK/mount$1" >>"$WORK/log/fence.txt" 2>&1 &
    fencing=$!
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
        wait "$fencing" || fail "the dead mount was not fenced: see log/fence.txt"
        umount -l "$WORK/mount$1"
        mount_cluster "$WORK/mount$1" "$1"
    fi
    start_head "$1"
}

# Every file has one number and one handle of the kernel's (name_to_handle_at), whichever head's mount is asked.
handles_of() { (cd "$WORK/mount$1/data" && find . -print0 | sort -z | xargs -0 "$TOOL" handles && find . -printf '%i %p\n' | sort); }
same_handles() {
    for number in 1 2; do handles_of $number >"$WORK/handles$number" || fail "the mount of head $number makes no handles"; done
    cmp "$WORK/handles1" "$WORK/handles2" || fail "a file has two handles: see handles1 and handles2"
    echo "$(grep -c . "$WORK/handles1") numbers and handles are the same on both mounts, such as $(tail -1 "$WORK/handles1") and $(head -1 "$WORK/handles1")"
}

# The conformance suite on the mount of head 1.
run_suite() {
    if "$TOOL" conform "$WORK/mount1/suite" >"$WORK/conformed.new" 2>"$WORK/log/suite.txt"; then return; fi
    cat "$WORK/log/suite.txt"
    grep -q '^FAILED' "$WORK/log/suite.txt" || fail "the suite: see log/suite.txt"
    if grep '^FAILED' "$WORK/log/suite.txt" | grep -v -F "${NOT_PASSED:-(none)}"; then fail "the suite: see log/suite.txt"; fi
    echo "the conformance suite, but for $(grep -c '^FAILED' "$WORK/log/suite.txt") cases that this cluster may not pass" >"$WORK/conformed.new"
}

"$HOWDAH" cluster-key "$WORK/cluster.key"
start_cluster
ip link add heads type bridge
ip link set guest0 master heads
ip link set heads up
ip addr add 10.99.0.9/24 dev heads
mount_cluster "$WORK/mount0" 0
until_true mkdir -p "$WORK/mount0/data"
mount --bind "$WORK/mount0/data" "$WORK/export"
for number in 1 2; do
    mount_cluster "$WORK/mount$number" "$number"
done
until_true cluster_is_ready
until_true sh -c "echo tried >'$WORK/export/tried' && sync '$WORK/export/tried'"
chmod 777 "$WORK/export"
for number in 1 2; do make_head $number; done
# Free space of the disk under all this is part of the size, and may change between two looks.
until_true "$HOWDAH" check --cluster 10.99.0.11 10.99.0.12
refuse_copy 2
# The mounts themselves agree.
same_handles
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
        # The guest has raced through both heads by now.
        same_handles
        run_suite
        mv "$WORK/conformed.new" "$WORK/conformed"
    fi
    kill -0 "$(cat "$WORK/head$serving.pid")" || fail "head $serving ended by itself"
    sleep 0.02
done
