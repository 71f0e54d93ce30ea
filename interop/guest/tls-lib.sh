# What the jobs over TLS share: certificates and a server on the host, the daemon that does the client's handshakes.

TLS=$WORK/tls
DAEMON=${GUEST_FILES:+$GUEST_FILES/usr/sbin/}tlshd

# The daemon checks the name that the server's address has.
name_server() {
    cp /etc/hosts /run/hosts
    echo "$SERVER_ADDRESS server.test" >>/run/hosts
    mount --bind /run/hosts /etc/hosts
}

# certificate DIRECTORY WORDS…: what the host's howdah issues.
certificate() {
    directory=$1
    shift
    on_host "\"$HOWDAH\" certificate \"$directory\" $* >>\"$WORK/log/certificates.txt\" 2>&1" ||
        fail "no certificate: $(tail -n 3 "$WORK/log/certificates.txt")"
}

# serve_tls CERTIFICATE FLAG…: howdah on port 2050 with TLS/CERTIFICATE.pem, over the directory `secret`.
serve_tls() {
    mine=$1
    shift
    on_host "
        mkdir -p \"$WORK/secret\"
        chmod 777 \"$WORK/secret\"
        : >\"$WORK/log/tls-start.txt\"
        \"$HOWDAH\" serve \"$WORK/secret\" --listen $SERVER_ADDRESS:2050 --state \"$WORK/tls-state\" --rpcbind off \
            --squash none --lease 5s --tls-certificate \"$TLS/$mine.pem\" --tls-key \"$TLS/$mine.key\" \
            --tls-client-ca \"$TLS/ca.pem\" $* >\"$WORK/log/tls-start.txt\" 2>>\"$WORK/log/tls-server.txt\" &
        echo \$! >\"$WORK/tls-server.pid\"
        for try in \$(seq 300); do
            ! grep -q '^Stop: ' \"$WORK/log/tls-start.txt\" || exit 0
            sleep 0.1
        done
        exit 1
    " || fail "howdah does not serve with TLS: $(tail -n 3 "$WORK/log/tls-server.txt")"
}

# end_server SIGNAL
end_server() { end_on_host "$1" "$WORK/tls-server.pid"; }

# Whether somebody listens for the kernel's handshakes: the only group of generic netlink that is joined here.
daemon_listens() { awk '$2 == 16 && $4 != "00000000" { found = 1 } END { exit !found }' /proc/net/netlink; }

# shake_hands AUTHORITY [CERTIFICATE [server]]: the daemon with this authority and this certificate, for the client's handshakes or the
# server's.
shake_hands() {
    if [ -n "${daemon:-}" ]; then
        kill "$daemon"
        wait "$daemon" || :
    fi
    {
        printf '[debug]\nloglevel=1\ntls=1\nnl=0\n[authenticate]\n[authenticate.%s]\nx509.truststore=%s\n' "${3:-client}" "$1"
        [ -z "${2:-}" ] || printf 'x509.certificate=%s.pem\nx509.private_key=%s.key\n' "$2" "$2"
    } >/run/tlshd.conf
    "$DAEMON" -s -c /run/tlshd.conf >>"$WORK/log/tlshd.txt" 2>&1 &
    daemon=$!
    until daemon_listens; do
        kill -0 "$daemon" || fail "tlshd does not run: $(tail -n 2 "$WORK/log/tlshd.txt")"
        sleep 0.05
    done
}

# options VERSION PROTECTION: words for mount(8).
options() {
    case $1 in
        3) words="vers=3,proto=tcp,port=2050,mountport=2050,mountproto=tcp,nolock" ;;
        *) words="vers=$1,proto=tcp,port=2050" ;;
    esac
    [ -z "$2" ] && echo "$words" || echo "$words,xprtsec=$2"
}

/run/modprobe tls
name_server
