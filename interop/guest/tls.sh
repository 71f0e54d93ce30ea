# Each version over TLS, with the client's certificate and without; a server that is killed, ended, and given another certificate while
# a file is written.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/tls-lib.sh"

# mounted VERSION PROTECTION
mounted() {
    mount -v -t nfs -o "$(options "$1" "$2")" server.test:/ /mnt/n >>"$WORK/log/mount.txt"
    grep ' /mnt/n ' /proc/mounts | grep "vers=$1," | grep -q "xprtsec=$2" || fail "no mount of version $1 with $2"
}

# write_in_background NAME
write_in_background() {
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | dd of="/mnt/n/$1" bs=1M iflag=fullblock conv=fsync status=none &
    writer=$!
    # Some of it must be written before something happens.
    on_host "for try in \$(seq 600); do [ ! -s \"$WORK/secret/$1\" ] || exit 0; sleep 0.1; done; exit 1" || fail "$1 does not grow"
}

# compare NAME: as the client reads it again, and as it is on the server.
compare() {
    wait "$writer" || fail "writing $1 failed"
    drop_caches
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - "/mnt/n/$1"
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - "$WORK/secret/$1"
}

# The serial number of the certificate that a new connection is shown, asked by another implementation and without the probe.
serial() {
    on_host "openssl s_client -connect $SERVER_ADDRESS:2050 </dev/null 2>/dev/null | openssl x509 -noout -serial >\"$WORK/serial.txt\"" ||
        fail "openssl does not connect"
    cat "$WORK/serial.txt"
}

certificate "$TLS" --server "server.test,$SERVER_ADDRESS"
certificate "$TLS" --client client.test
serve_tls server.test --tls required
shake_hands "$TLS/ca.pem" "$TLS/client.test"
# The short run leaves out what takes long.
if [ "$ALL" = 1 ]; then EACH="3:tls 3:mtls 4.1:tls 4.1:mtls 4.2:tls 4.2:mtls"; else EACH="3:tls 4.1:mtls 4.2:tls"; fi
for each in $EACH; do
    mounted "${each%:*}" "${each#*:}"
    write_in_background "file-$each"
    compare "file-$each"
    umount /mnt/n
done
for each in 3:tls 4.2:mtls; do
    mounted "${each%:*}" "${each#*:}"
    write_in_background "killed-$each"
    end_server KILL
    serve_tls server.test --tls required
    compare "killed-$each"
    [ "$ALL" = 1 ] || { umount /mnt/n; continue; }
    write_in_background "ended-$each"
    end_server TERM
    serve_tls server.test --tls required
    compare "ended-$each"
    umount /mnt/n
done
# Another certificate: the connection that there is goes on with its own, a new one is shown the new one.
SIZE=$RENEWED
mounted 4.2 tls
before=$(serial)
write_in_background renewed
on_host "rm \"$TLS\"/server.test.*"
certificate "$TLS" --server "server.test,$SERVER_ADDRESS"
on_host "kill -HUP \$(cat \"$WORK/tls-server.pid\")"
for try in $(seq 300); do
    after=$(serial)
    [ "$after" = "$before" ] || break
    sleep 0.1
done
[ "$after" != "$before" ] || fail "the old certificate is still shown"
compare renewed
umount /mnt/n
