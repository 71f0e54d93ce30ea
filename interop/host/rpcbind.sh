# rpcinfo and showmount through the system's rpcbind, where howdah has registered itself; undone when it ends.
. "$WORK/scripts/lib.sh"
registered=$(rpcinfo -p 127.0.0.1)
for line in "100003 +3 +tcp +$PORT" "100005 +1 +tcp +$PORT" "100005 +3 +tcp +$PORT" "100003 +3 +udp +$PORT" "100005 +3 +udp +$PORT"; do
    contains "$registered" "$line" "rpcinfo -p"
done
contains "$(rpcinfo -T tcp "$SERVER_ADDRESS" 100003 3)" 'version 3 ready' "a NULL call over TCP"
contains "$(rpcinfo -T udp "$SERVER_ADDRESS" 100005 3)" 'version 3 ready' "a NULL call over UDP"
contains "$(rpcinfo -T tcp6 "$SERVER_ADDRESS6" 100003 3)" 'version 3 ready' "a NULL call over IPv6"
contains "$(showmount -e "$SERVER_ADDRESS")" "^$EXPORT_NAME( |$)" "showmount -e"
# The host ends the server when it sees this file, and starts no other.
: >"$WORK/end-server"
while kill -0 "$SERVER_PROCESS" 2>/dev/null; do :; done
if rpcinfo -p 127.0.0.1 | grep -E '10000[35]'; then fail "still registered after the server ended"; fi
