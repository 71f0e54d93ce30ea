# Kerberos at a howdah on the host: each version with each protection, two users and root, a user whom the realm does not know, calls
# without Kerberos, several connections, and a server that is killed while a file is written.
. "$WORK/scripts/lib.sh"
for command in rpc.gssd kinit krb5kdc kadmin.local; do
    command -v $command >/dev/null || skip "$command is not installed"
done
. "$WORK/scripts/krb5-lib.sh"

# serve_krb5 FLAG…: howdah on port 2050 over the directory `secret`, where alice and bob are users.
serve_krb5() {
    on_host "
        mkdir -p \"$WORK/secret/alice\" \"$WORK/secret/all\"
        chmod 755 \"$WORK/secret\"
        chmod 700 \"$WORK/secret/alice\"
        chmod 777 \"$WORK/secret/all\"
        chown 1234:1234 \"$WORK/secret/alice\"
        { cat /etc/passwd; echo alice:x:1234:1234::/:/bin/sh; echo bob:x:1236:1236::/:/bin/sh; } >\"$WORK/passwd\"
        : >\"$WORK/log/krb5-start.txt\"
        export KRB5_CONFIG=\"$KRB5/krb5.conf\"
        unshare --mount sh -c '
            mount --bind \"$WORK/passwd\" /etc/passwd
            exec \"$HOWDAH\" serve \"$WORK/secret\" --listen $SERVER_ADDRESS:2050 --state \"$WORK/krb5-state\" --rpcbind off \
                --squash none --lease 5s --keytab \"$KRB5/keytab\" $*
        ' >\"$WORK/log/krb5-start.txt\" 2>>\"$WORK/log/krb5-server.txt\" &
        echo \$! >\"$WORK/krb5-server.pid\"
        for try in \$(seq 300); do
            ! grep -q '^Stop: ' \"$WORK/log/krb5-start.txt\" || exit 0
            sleep 0.1
        done
        exit 1
    " || fail "howdah does not serve with Kerberos: $(tail -n 3 "$WORK/log/krb5-server.txt")"
}

# mount_by VERSION FLAVOR [WORD,…]
mount_by() {
    case $1 in
        3) words="vers=3,proto=tcp,port=2050,mountport=2050,mountproto=tcp,nolock" ;;
        *) words="vers=$1,proto=tcp,port=2050" ;;
    esac
    MOUNT_SOURCE=relay.test:/
    mount_by_ticket "$words${2:+,sec=$2}${3:+,$3}"
}

# write_as_alice FILE: SIZE bytes into her directory, as they are read again from the server.
write_as_alice() {
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | as 1234 tee "/mnt/n/alice/$1" >/dev/null
    drop_caches
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | as 1234 cmp - "/mnt/n/alice/$1" || fail "other bytes come back: $1"
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - "$WORK/secret/alice/$1" || fail "other bytes on the server: $1"
    equal "$(stat -c %u "$WORK/secret/alice/$1")" 1234 "owner of $1 on the server"
    as 1234 rm "/mnt/n/alice/$1"
}

# check VERSION FLAVOR [WORD,…]
check() {
    mount_by "$@" | grep -q "vers=$1.*sec=$2," || fail "no mount of version $1 with $2"
    write_as_alice "$1-$2"
    refused "denied" as 1235 ls /mnt/n/alice
    refused "denied" as 1236 ls /mnt/n/alice
    as 1236 touch "/mnt/n/all/bob-$1-$2"
    equal "$(stat -c %u "$WORK/secret/all/bob-$1-$2")" 1236 "bob's file on the server"
    # Root is the machine, and no machine is root.
    touch "/mnt/n/all/root-$1-$2"
    equal "$(stat -c %u "$WORK/secret/all/root-$1-$2")" 65534 "root's file on the server"
    umount /mnt/n
}

name_hosts
start_realm nfs/relay.test nfs/guest.test
on_host "KRB5_CONFIG=\"$KRB5/krb5.conf\" KRB5_KDC_PROFILE=\"$KRB5/kdc.conf\" /usr/sbin/kadmin.local addprinc -pw secret bob" || fail "no bob"
serve_krb5 --sec krb5:krb5i:krb5p
start_daemons
ticket_of_alice
echo secret | as 1236 kinit -c FILE:/run/tickets/krb5cc_1236 bob >"$WORK/log/kinit.txt" 2>&1 || fail "no ticket for bob"

if [ "$ALL" = 1 ]; then VERSIONS="3 4.1 4.2" PROTECTIONS="krb5 krb5i krb5p"; else VERSIONS="3 4.2" PROTECTIONS="krb5 krb5p"; fi
# FLAVOR: 1, 2 or 3 for krb5, krb5i or krb5p alone; 0 for all.
ONE=
case $FLAVOR in 1) ONE=krb5 ;; 2) ONE=krb5i ;; 3) ONE=krb5p ;; esac
PROTECTIONS=${ONE:-$PROTECTIONS}
for version in $VERSIONS; do
    for protection in $PROTECTIONS; do check "$version" "$protection"; done
    refused "" mount_by "$version" sys
done
check 4.2 ${ONE:-krb5i} nconnect=8
# A mount that names no flavor takes the first one of the server's list.
for version in $VERSIONS; do
    mount_by "$version" "" | grep -q "sec=krb5," || fail "version $version without sec=: no mount with krb5"
    umount /mnt/n
done

# A server that is killed has forgotten all contexts: the client makes others.
for each in 3:${ONE:-krb5p} 4.2:${ONE:-krb5i}; do
    mount_by "${each%:*}" "${each#*:}" >/dev/null
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | as 1234 tee "/mnt/n/alice/killed-$each" >/dev/null &
    writer=$!
    until [ -s "$WORK/secret/alice/killed-$each" ]; do sleep 0.02; done
    end_on_host KILL "$WORK/krb5-server.pid"
    serve_krb5 --sec krb5:krb5i:krb5p
    wait "$writer" || fail "writing failed while the server was killed"
    drop_caches
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - "$WORK/secret/alice/killed-$each"
    umount /mnt/n
done
note "$(grep -c 'context established' "$WORK/log/krb5-server.txt") contexts were logged"
