# Another howdah's export through a relay that passes calls through: each version, a lock, and a relay that is killed while a file is
# written.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/pass-through.sh"

# write_and_compare NAME: SIZE bytes, as they are read again from the server.
write_and_compare() {
    want=$("$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | tee "/mnt/n/$1" | sha256sum)
    drop_caches
    equal "$(sha256sum <"/mnt/n/$1")" "$want" "checksum of $1"
}

pass_through nfs://127.0.0.1:2049
# The short run leaves out what takes long.
if [ "$ALL" = 1 ]; then VERSIONS="3 4.1 4.2"; else VERSIONS="3 4.2"; fi
for version in $VERSIONS; do
    case $version in
        3) mount_export ;;
        *) mount_export "vers=$version,port=2050,nconnect=2" ;;
    esac
    grep ' /mnt/n ' /proc/mounts | grep -q "vers=$version," || fail "no mount of version $version"
    write_and_compare "passed-$version"
    [ "$version" = 4.2 ] || umount /mnt/n
done
on_host "\"$HOWDAH\" why --state \"$WORK/relay-state\"" || fail "the relay does not say what it does"
hold /mnt/n/passed-3 lock
if flock --nonblock /mnt/n/passed-3 true; then fail "a lock does not exclude"; fi
let_go lock
wait
# A relay that is killed takes nothing with it: the client connects again, and its session goes on.
if [ "$ALL" = 1 ]; then
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" >/mnt/n/killed &
    writer=$!
    end_on_host KILL "$WORK/relay.pid"
    pass_through nfs://127.0.0.1:2049
    wait "$writer"
    drop_caches
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - /mnt/n/killed
    expect_on_server killed
fi
for version in $VERSIONS; do expect_on_server "passed-$version"; done
umount /mnt/n
