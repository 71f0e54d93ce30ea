# What the jobs with Kerberos share: a realm whose KDC runs on the host, and the daemons of the guest's client and server.
# alice is user 1234 here and has a password; mallory is user 1235 and the realm does not know her.

REALM=HOWDAH.TEST
KRB5=$WORK/krb5
export KRB5_CONFIG=$KRB5/krb5.conf KRB5RCACHEDIR=/run

# start_realm SERVICE…: a KDC on the host, and KRB5/keytab with the keys of these services.
start_realm() {
    mkdir -p "$KRB5"
    cat >"$KRB5/krb5.conf" <<END
[libdefaults]
default_realm = $REALM
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
[realms]
$REALM = {
    kdc = $SERVER_ADDRESS:88
}
END
    cat >"$KRB5/kdc.conf" <<END
[kdcdefaults]
kdc_listen = $SERVER_ADDRESS:88
kdc_tcp_listen = $SERVER_ADDRESS:88
[realms]
$REALM = {
    database_name = $KRB5/principal
    key_stash_file = $KRB5/stash
    acl_file = $KRB5/acl
}
[logging]
kdc = FILE:$WORK/log/kdc.txt
END
    on_host "
        export KRB5_CONFIG=\"$KRB5/krb5.conf\" KRB5_KDC_PROFILE=\"$KRB5/kdc.conf\" PATH=/usr/sbin:/usr/bin:/sbin:/bin
        {
            kdb5_util create -s -W -P master -r $REALM
            kadmin.local addprinc -pw secret alice
            for service in $*; do
                kadmin.local addprinc -randkey \$service
                kadmin.local ktadd -k \"$KRB5/keytab\" \$service
            done
            krb5kdc
        } >\"$WORK/log/realm.txt\" 2>&1
    " || fail "no realm: $(tail -n 3 "$WORK/log/realm.txt")"
}

# name_hosts: the names by which Kerberos knows the relay and this guest, and the two users.
name_hosts() {
    hostname guest.test
    { cat /etc/hosts; echo "$SERVER_ADDRESS relay.test"; echo "$GUEST_ADDRESS guest.test"; } >/run/hosts
    { cat /etc/passwd; echo "alice:x:1234:1234::/:/bin/sh"; echo "mallory:x:1235:1235::/:/bin/sh"; } >/run/passwd
    { cat /etc/group; echo "alice:x:1234:"; } >/run/group
    printf '[General]\nDomain = howdah.test\nLocal-Realms = %s\n[Mapping]\nNobody-Group = nogroup\n[Translation]\nMethod = nsswitch\n' $REALM >/run/idmapd.conf
    for name in hosts passwd group idmapd.conf; do mount --bind "/run/$name" "/etc/$name"; done
}

# start_daemons: those that get tickets for the kernel's client, and that accept them for its server.
start_daemons() {
    mkdir -p /run/rpc_pipefs /run/tickets
    chmod 1777 /run/tickets
    mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
    /run/modprobe rpcsec_gss_krb5
    start_gssd
    KRB5_KTNAME=$KRB5/keytab rpc.svcgssd -f -v -n >"$WORK/log/svcgssd.txt" 2>&1 &
    rpc.idmapd -f -S -p /run/rpc_pipefs >"$WORK/log/idmapd.txt" 2>&1 &
}

start_gssd() {
    rpc.gssd -f -vv -k "$KRB5/keytab" -p /run/rpc_pipefs -d /run/tickets >>"$WORK/log/gssd.txt" 2>&1 &
    echo $! >/run/gssd.pid
}

# restart_gssd: it looks at the kernel's pipes again.
restart_gssd() {
    kill "$(cat /run/gssd.pid)"
    wait "$(cat /run/gssd.pid)" || :
    start_gssd
}

# mount_by_ticket OPTION,…: mount_export, and once more if rpc.gssd asks for DES alone, which the library refuses, until it is started again.
# The likely reason: it looked at a client while the kernel was making it, and opened the pipe of the older kind (`krb5`, not `gssd`), over
# which the kernel names no encryption types.
mount_by_ticket() {
    mount_export "$@" && return
    grep -q 'lacks support for encryption type' "$WORK/log/gssd.txt" || return 1
    mv "$WORK/log/gssd.txt" "$WORK/log/gssd-des.txt"
    note "rpc.gssd asked for DES alone, and was started again" >&2
    restart_gssd
    mount_export "$@"
}

# ticket_of_alice: what she gets for her password.
ticket_of_alice() {
    echo secret | as 1234 kinit -c FILE:/run/tickets/krb5cc_1234 alice >"$WORK/log/kinit.txt" 2>&1 ||
        fail "no ticket: $(tail -n 1 "$WORK/log/kinit.txt")"
}
