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
