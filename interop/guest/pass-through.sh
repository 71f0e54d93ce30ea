# A relay on the host that passes calls through.

# pass_through URL: it carries the calls for that server, on port 2050.
pass_through() {
    on_host "
        \"$HOWDAH\" relay --pass-through '$1' --listen 0.0.0.0:2050 --state \"$WORK/relay-state\" \
            >\"$WORK/log/relay.txt\" 2>&1 &
        echo \$! >\"$WORK/relay.pid\"
        for try in \$(seq 300); do
            ! grep -q '^Stop: ' \"$WORK/log/relay.txt\" || exit 0
            sleep 0.1
        done
        exit 1
    " || fail "howdah does not pass on: $(cat "$WORK/log/relay.txt")"
}
