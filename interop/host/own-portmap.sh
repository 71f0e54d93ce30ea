# rpcinfo and showmount where no rpcbind runs: howdah answers on port 111 itself.
. "$WORK/scripts/lib.sh"
check() {
    listing=$(rpcinfo -p "$1")
    for line in '100003 +3 +tcp' '100005 +1 +tcp' '100005 +3 +tcp' '100003 +3 +udp' '100005 +3 +udp' '100000 +2 +tcp'; do
        contains "$listing" "$line" "rpcinfo -p $1"
    done
}
check 127.0.0.1
check "$SERVER_ADDRESS"
contains "$(rpcinfo -s "$SERVER_ADDRESS")" 100003 "rpcinfo -s"
contains "$(rpcinfo -T tcp "$SERVER_ADDRESS" 100003 3)" 'version 3 ready' "a NULL call over TCP"
contains "$(rpcinfo -T udp "$SERVER_ADDRESS" 100003 3)" 'version 3 ready' "a NULL call over UDP"
contains "$(rpcinfo -t "$SERVER_ADDRESS" 100003)" 'version 3 ready' "rpcinfo -t: all versions"
contains "$(rpcinfo -u "$SERVER_ADDRESS" 100005)" 'version 1 ready' "rpcinfo -u: all versions of MOUNT"
contains "$(rpcinfo -u "$SERVER_ADDRESS" 100005)" 'version 3 ready' "rpcinfo -u: all versions of MOUNT"
universal=$SERVER_ADDRESS.$((PORT / 256)).$((PORT % 256))
contains "$(rpcinfo -a "$universal" -T tcp 100003 3)" 'version 3 ready' "rpcinfo -a: a universal address, TCP"
contains "$(rpcinfo -a "$universal" -T udp 100005 3)" 'version 3 ready' "rpcinfo -a: a universal address, UDP"
if rpcinfo -T tcp "$SERVER_ADDRESS" 100003 9 >out 2>&1; then fail "version 9 answered"; fi
contains "$(cat out)" 'low version = 3, high version = 4' "the versions in PROG_MISMATCH, TCP"
if rpcinfo -T udp "$SERVER_ADDRESS" 100003 9 >out 2>&1; then fail "version 9 answered"; fi
contains "$(cat out)" 'low version = 3, high version = 3' "the versions in PROG_MISMATCH, UDP"
contains "$(showmount -e "$SERVER_ADDRESS")" "^$EXPORT_NAME( |$)" "showmount -e"
showmount -a "$SERVER_ADDRESS"
showmount -d "$SERVER_ADDRESS"
