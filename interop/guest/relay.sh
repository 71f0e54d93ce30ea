# What the relay's jobs share: howdah on the host serves what another server exports, and this client mounts that.

# relay URL [FLAG…]: howdah serves it on port 2050; what another server exports, through caches.
relay() {
    case $1 in
        nfs://*) how=relay ;;
        *) how=serve ;;
    esac
    what=$1
    shift
    on_host "
        \"$HOWDAH\" $how '$what' --squash none $* --listen 0.0.0.0:2050 --no-udp --rpcbind off --state \"$WORK/relay-state\" \
            >\"$WORK/log/relay.txt\" 2>&1 &
        echo \$! >\"$WORK/relay.pid\"
        for try in \$(seq 300); do
            ! grep -q '^Stop: ' \"$WORK/log/relay.txt\" || exit 0
            sleep 0.1
        done
        exit 1
    " || fail "howdah does not serve $what: $(cat "$WORK/log/relay.txt")"
}

# through_relay: writes, reads and compares a large file of SIZE bytes and a tree.
through_relay() {
    mount_export
    want=$("$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | tee /mnt/n/large | sha256sum)
    mkdir /mnt/n/tree
    tar -xpf "$WORK/tree.tar" -C /mnt/n/tree
    drop_caches
    equal "$(sha256sum </mnt/n/large)" "$want" "checksum of what was read back"
    tar --compare -f "$WORK/tree.tar" -C /mnt/n/tree
    remount
    diff -r --no-dereference "$WORK/tree" /mnt/n/tree
    equal "$(sha256sum </mnt/n/large)" "$want" "checksum after another mount"
    mv /mnt/n/tree /mnt/n/moved
    rm -r /mnt/n/moved
    [ ! -e /mnt/n/moved ] || fail "the tree is still there"
}

# relay_killed URL DIRECTORY WHERE: relays the URL to clients of version 3 and 4.2. The relay is killed while one writes and has a file open.
# The origin has its files in the directory, and WHERE runs a script beside it.
relay_killed() {
    relay "$1"
    for version in 3 4.2; do
        case $version in
            3) mount_export ;;
            *) mount_export "vers=$version,port=2050" ;;
        esac
        mkdir "/mnt/n/tree-$version"
        tar -xpf "$WORK/tree.tar" -C "/mnt/n/tree-$version"
        echo before >"/mnt/n/open-$version"
        # A program has a file open over the relay's restart, and another one writes.
        exec 7<"/mnt/n/open-$version"
        "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" >"/mnt/n/large-$version" &
        writer=$!
        until [ -s "/mnt/n/large-$version" ]; do sleep 0.02; done
        end_on_host KILL "$WORK/relay.pid"
        relay "$1"
        wait "$writer"
        drop_caches
        equal "$(cat <&7)" before "what an open file holds"
        exec 7<&-
        "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - "/mnt/n/large-$version"
        # By the names and handles that the client has.
        tar --compare -f "$WORK/tree.tar" -C "/mnt/n/tree-$version"
        umount /mnt/n
        $3 "sha256sum <\"$2/large-$version\" >\"$WORK/origin.sum\""
        want=$("$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | sha256sum)
        equal "$(cat "$WORK/origin.sum")" "$want" "checksum of the file on the origin"
    done
}
