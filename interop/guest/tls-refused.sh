# What must not be mounted: refused in time, with a line in the server's log where it is the server that refuses.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/tls-lib.sh"

# not_mounted WHAT VERSION PROTECTION [WORDS]: the server's log must then hold the words.
not_mounted() {
    # The log tells of one in a second.
    sleep 1.1
    lines=$(wc -l <"$WORK/log/tls-server.txt")
    code=0
    timeout 60 mount -t nfs -o "$(options "$2" "$3"),retry=0,soft,timeo=50,retrans=1" server.test:/ /mnt/n \
        >>"$WORK/log/mount.txt" 2>&1 || code=$?
    # A mount without a call that the server judges is one of version 3 whose first call comes later.
    if [ "$code" = 0 ]; then
        if timeout 60 ls /mnt/n >>"$WORK/log/mount.txt" 2>&1; then fail "$1: version $2 is mounted"; fi
        umount -l /mnt/n
    fi
    [ "$code" != 124 ] || fail "$1: mount of version $2 hangs"
    echo "$1: version $2: code $code" >>"$WORK/log/mount.txt"
    # The client may know before the server does.
    for try in $(seq 100); do
        [ -n "${4:-}" ] || return 0
        ! tail -n "+$((lines + 1))" "$WORK/log/tls-server.txt" | grep -q "$4" || return 0
        sleep 0.1
    done
    fail "$1: the server does not log '$4': $(tail -n 2 "$WORK/log/tls-server.txt")"
}

# An authority of somebody else, and certificates that were valid yesterday.
certificate "$TLS" --server "server.test,$SERVER_ADDRESS"
certificate "$TLS" --server other.test
certificate "$TLS" --client client.test
certificate "$WORK/stranger" --server "server.test,$SERVER_ADDRESS"
certificate "$WORK/stranger" --client client.test
on_host "
    cd \"$TLS\"
    printf '[ca]\ndefault_ca=x\n[x]\ndatabase=index\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\ncopy_extensions=copy\n[p]\ncommonName=optional\n' >expired.cnf
    : >index
    echo 01 >serial
    for name in server client; do
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout expired-\$name.key -out \$name.csr \
            -subj /CN=\$name.test -addext subjectAltName=DNS:\$name.test -addext extendedKeyUsage=\${name}Auth
        openssl ca -batch -notext -config expired.cnf -cert ca.pem -keyfile ca.key -in \$name.csr -out expired-\$name.pem \
            -startdate 20200101000000Z -enddate 20200201000000Z
    done
" || fail "openssl issues no certificate that is expired"

# versions: all of them in the full run.
if [ "$ALL" = 1 ]; then VERSIONS="3 4.1 4.2"; else VERSIONS="3 4.2"; fi

shake_hands "$TLS/ca.pem" "$TLS/client.test"
serve_tls server.test --tls required
for version in $VERSIONS; do not_mounted plaintext "$version" "" "xprtsec=tls .*tls=.required"; done
shake_hands "$WORK/stranger/ca.pem"
not_mounted "a server of another authority" 4.2 tls "TLS handshake failed"
not_mounted "a server of another authority" 3 tls "TLS handshake failed"
end_server TERM
shake_hands "$TLS/ca.pem" "$TLS/client.test"
serve_tls other.test --tls required
not_mounted "a server of another name" 4.2 tls "TLS handshake failed"
end_server TERM
serve_tls expired-server --tls required
not_mounted "a server whose certificate expired" 4.2 tls "TLS handshake failed"
end_server TERM
serve_tls server.test --tls client-certificate
for version in $VERSIONS; do not_mounted "a client without a certificate" "$version" tls "xprtsec=mtls .*tls=.client-certificate"; done
shake_hands "$TLS/ca.pem" "$WORK/stranger/client.test"
not_mounted "a client of another authority" 4.2 mtls "TLS handshake failed"
shake_hands "$TLS/ca.pem" "$TLS/expired-client"
not_mounted "a client whose certificate expired" 4.2 mtls "TLS handshake failed"
# One that was good until it was revoked.
certificate "$TLS" --client revoked.test
shake_hands "$TLS/ca.pem" "$TLS/revoked.test"
mount -v -t nfs -o "$(options 4.2 mtls)" server.test:/ /mnt/n >>"$WORK/log/mount.txt"
umount /mnt/n
certificate "$TLS" --revoke "$TLS/revoked.test.pem"
end_server TERM
serve_tls server.test --tls client-certificate --tls-client-crl "$TLS/ca.crl"
not_mounted "a client whose certificate is revoked" 4.2 mtls "TLS handshake failed"
# Whoever has what is asked for is served as before.
shake_hands "$TLS/ca.pem" "$TLS/client.test"
mount -v -t nfs -o "$(options 4.2 mtls)" server.test:/ /mnt/n >>"$WORK/log/mount.txt"
echo howdah >/mnt/n/hello
umount /mnt/n
