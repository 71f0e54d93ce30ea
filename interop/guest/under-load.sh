# Work that never pauses while the host reloads or restarts the server every few seconds; then everything is compared.
. "$WORK/scripts/lib.sh"
mount_export
tell_host under-load
began=$(seconds)
round=0
# On a busy machine the host disturbs the server later: twice at least.
goes_on() {
    passed=$(($(seconds) - began))
    [ "$passed" -lt "$SECONDS_EACH" ] || { [ ! -e "$WORK/disturbed" ] && [ "$passed" -lt $((4 * SECONDS_EACH)) ]; }
}
while goes_on; do
    round=$((round + 1))
    mkdir "/mnt/n/$round"
    "$TOOL" pattern --seed "$round" --bytes 33554432 >"/mnt/n/$round/data"
    tar -xpf "$WORK/tree.tar" -C "/mnt/n/$round"
    "$TOOL" pattern --seed "$round" --bytes 33554432 | cmp - "/mnt/n/$round/data"
    tar --compare -f "$WORK/tree.tar" -C "/mnt/n/$round"
    [ "$round" -lt 3 ] || rm -r "/mnt/n/$((round - 2))"
done
rm "$WORK/under-load"
note "$round rounds"
drop_caches
"$TOOL" pattern --seed "$round" --bytes 33554432 | cmp - "/mnt/n/$round/data"
tar --compare -f "$WORK/tree.tar" -C "/mnt/n/$round"
[ "$CONFIGURED" = no ] || showmount -e "$SERVER_ADDRESS" | grep -q '^/reloaded' || fail "no export /reloaded appeared"
expect_on_server "$round/data"
