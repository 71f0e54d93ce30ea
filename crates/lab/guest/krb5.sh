# Kerberos in this guest, which is the ROLE (client or server) of its cell. Every guest makes the same realm from the same passwords,
# so that nobody carries keys: the keytabs of all are alike, and each client asks a KDC of its own. Clients reach the server, or the relay
# before it, at SERVER.
[ ! -d /run/krb5 ] || return 0
KRB5=/run/krb5 REALM=LAB.TEST
export KRB5_CONFIG=$KRB5/krb5.conf KRB5_KDC_PROFILE=$KRB5/kdc.conf KRB5RCACHEDIR=/run
mkdir -p $KRB5 /run/rpc_pipefs /run/tickets
cat >$KRB5/krb5.conf <<END
[libdefaults]
default_realm = $REALM
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
[realms]
$REALM = {
    kdc = 127.0.0.1:88
}
END
cat >$KRB5/kdc.conf <<END
[kdcdefaults]
kdc_listen = 127.0.0.1:88
kdc_tcp_listen = 127.0.0.1:88
[realms]
$REALM = {
    database_name = $KRB5/principal
    key_stash_file = $KRB5/stash
    acl_file = $KRB5/acl
}
[logging]
kdc = FILE:$WORK/log/kdc.txt
END
hostname "$ROLE.test"
# The first name of an address counts.
{ echo "$SERVER server.test"; echo "$GUEST_ADDRESS $ROLE.test"; cat /etc/hosts; } >/run/hosts
printf '[General]\nDomain = lab.test\nLocal-Realms = %s\n[Translation]\nMethod = nsswitch\n' $REALM >/run/idmapd.conf
for name in hosts idmapd.conf; do
    [ ! -e "/etc/$name" ] || mount --bind "/run/$name" "/etc/$name"
done
kdb5_util create -s -W -P master -r $REALM
for principal in nfs/client.test nfs/server.test; do
    kadmin.local addprinc -pw "$principal" "$principal"
    kadmin.local ktadd -k $KRB5/keytab -norandkey "$principal"
done
krb5kdc
mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
/run/modprobe rpcsec_gss_krb5
case $ROLE in
client) rpc.gssd -f -v -k $KRB5/keytab -p /run/rpc_pipefs -d /run/tickets >"$WORK/log/gssd.txt" 2>&1 & ;;
server)
    KRB5_KTNAME=$KRB5/keytab rpc.svcgssd -f -v -n >"$WORK/log/svcgssd.txt" 2>&1 &
    rpc.idmapd -f -S -p /run/rpc_pipefs >"$WORK/log/idmapd.txt" 2>&1 &
    ;;
esac
