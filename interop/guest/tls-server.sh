# The Linux kernel's server in this guest, with TLS: howdah on the host copies to it and from it, with a certificate and without.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/tls-lib.sh"
command -v rpc.nfsd >/dev/null || skip "rpc.nfsd is not installed"
certificate "$TLS" --server "guest.test,$GUEST_ADDRESS"
certificate "$TLS" --client client.test
certificate "$WORK/stranger" --client client.test
shake_hands "$TLS/ca.pem" "$TLS/guest.test" server
FILE_SYSTEM=tmpfs TMPFS_SIZE=400M
. "$WORK/scripts/nfsd.sh"

PLACE="nfs://$GUEST_ADDRESS/mnt/s?nfsport=2049&mountport=20048"
# copy FROM TO: by the host's howdah.
copy() { on_host "\"$HOWDAH\" cp --quiet \"$1\" \"$2\" >>\"$WORK/log/copies.txt\" 2>&1"; }

"$TOOL" pattern --seed "$SEED" --bytes "$SIZE" >"$WORK/sent"
for words in "xprtsec=tls" "xprtsec=mtls&tlscert=$TLS/client.test.pem&tlskey=$TLS/client.test.key"; do
    protection=${words%%&*}
    at="nfs://$GUEST_ADDRESS/mnt/s/$protection?${PLACE#*\?}&$words&tlsca=$TLS/ca.pem"
    copy "$WORK/sent" "$at" || fail "$protection: nothing was copied to the server: $(tail -n 2 "$WORK/log/copies.txt")"
    cmp "$WORK/sent" "/mnt/s/$protection"
    copy "$at" "$WORK/back-$protection" || fail "$protection: nothing was copied back: $(tail -n 2 "$WORK/log/copies.txt")"
    cmp "$WORK/sent" "$WORK/back-$protection"
done
# Neither an authority that did not issue the server's certificate nor a client's certificate of a stranger will do.
if copy "$WORK/sent" "nfs://$GUEST_ADDRESS/mnt/s/no?${PLACE#*\?}&xprtsec=tls&tlsca=$WORK/stranger/ca.pem"; then
    fail "a server of another authority is trusted"
fi
if copy "$WORK/sent" "nfs://$GUEST_ADDRESS/mnt/s/no?${PLACE#*\?}&xprtsec=mtls&tlsca=$TLS/ca.pem&tlscert=$WORK/stranger/client.test.pem&tlskey=$WORK/stranger/client.test.key"; then
    fail "the kernel's server trusts a client of another authority"
fi
[ ! -e /mnt/s/no ] || fail "something was written all the same"
grep -q "no authority that is trusted here issued it" "$WORK/log/copies.txt" || fail "howdah does not say why: $(tail -n 3 "$WORK/log/copies.txt")"
