# RPC-with-TLS: this kernel mounts with xprtsec=tls and mtls over versions 3, 4.1 and 4.2; what must be refused is; and a server that is
# killed is met again over TLS.
. "$WORK/scripts/lib.sh"
command -v tlshd >/dev/null || skip "tlshd is not installed (package ktls-utils, Debian 13)"
/run/modprobe tls 2>/dev/null || skip "this guest's kernel has no TLS"
NAME=server.howdah.test

# tls_server POLICY PORT CERTIFICATE: one that asks for that, beside the scenario's.
tls_server() {
    on_host "
        [ -e \"$WORK/tls/ca.pem\" ] || {
            \"$HOWDAH\" certificate \"$WORK/tls\" --server $NAME,$SERVER_ADDRESS --client client.howdah.test
            \"$HOWDAH\" certificate \"$WORK/tls\" --server other.howdah.test
            \"$HOWDAH\" certificate \"$WORK/foreign\" --server $NAME
        } >\"$WORK/log/certificates.txt\" 2>&1 || exit 1
        rm -f \"$WORK/log/tls-$2.txt\"
        \"$HOWDAH\" serve \"$EXPORT_DIRECTORY\" --squash none --listen 0.0.0.0:$2 --no-udp --rpcbind off --state \"$WORK/tls-state\" \
            --tls-certificate \"$WORK/$3.pem\" --tls-key \"$WORK/$3.key\" --tls-client-ca \"$WORK/tls/ca.pem\" --tls $1 \
            >\"$WORK/log/tls-$2.txt\" 2>&1 &
        echo \$! >\"$WORK/tls-$2.pid\"
        for try in \$(seq 300); do
            ! grep -q '^Stop: ' \"$WORK/log/tls-$2.txt\" || exit 0
            sleep 0.1
        done
        exit 1
    " || fail "no server with TLS: $(cat "$WORK/log/certificates.txt" "$WORK/log/tls-$2.txt")"
}

tls_server required 2051 "tls/$NAME"
tls_server client-certificate 2052 "tls/$NAME"
tls_server required 2053 tls/other.howdah.test
tls_server required 2054 "foreign/$NAME"

# Linux checks the name that the address leads back to.
{ cat /etc/hosts; echo "$SERVER_ADDRESS $NAME"; } >/run/hosts
mount --bind /run/hosts /etc/hosts
cat >/run/tlshd.conf <<CONFIGURATION
[debug]
loglevel=1
tls=1
[authenticate.client]
x509.truststore=$WORK/tls/ca.pem
x509.certificate=$WORK/tls/client.howdah.test.pem
x509.private_key=$WORK/tls/client.howdah.test.key
CONFIGURATION
tlshd -s -c /run/tlshd.conf >"$WORK/log/tlshd.txt" 2>&1 &
sleep 1

# tls_mount PORT OPTIONS
tls_mount() {
    case $2 in
        vers=3*) more=proto=tcp,port=$1,mountport=$1,mountproto=tcp,nolock,retry=0 ;;
        *) more=port=$1,retry=0 ;;
    esac
    mount -v -t nfs -o "$2,$more" "$NAME:/" /mnt/n >>"$WORK/log/mount.txt"
}

want=$("$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | sha256sum)
number=0
for version in vers=3 vers=4.1 vers=4.2 vers=4.2,nconnect=4; do
    for security in "tls 2051" "mtls 2051" "mtls 2052"; do
        set -- $security
        number=$((number + 1))
        tls_mount "$2" "$version,xprtsec=$1" || fail "no mount with $version, xprtsec=$1"
        grep ' /mnt/n ' /proc/mounts | grep -q "xprtsec=$1" || fail "a mount without xprtsec=$1"
        "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" >"/mnt/n/file-$number"
        drop_caches
        equal "$(sha256sum <"/mnt/n/file-$number")" "$want" "checksum with $version, xprtsec=$1"
        expect_on_server "file-$number"
        umount /mnt/n
    done
done

refused "access denied" tls_mount 2051 vers=3
refused "Operation not permitted" tls_mount 2051 vers=4.2
refused "access denied" tls_mount 2052 vers=3,xprtsec=tls
for port in 2053 2054; do
    for version in vers=3 vers=4.2; do
        ! tls_mount $port "$version,xprtsec=tls" 2>/dev/null || fail "mounted a server that is not $NAME (port $port)"
    done
done

# A server that was killed has new connections, and each is TLS again.
tls_mount 2051 vers=4.2,xprtsec=mtls
on_host "kill -9 \$(cat \"$WORK/tls-2051.pid\")"
tls_server required 2051 "tls/$NAME"
drop_caches
equal "$(sha256sum </mnt/n/file-1)" "$want" "checksum after the server was killed"
umount /mnt/n
note "$number mounts over TLS"
