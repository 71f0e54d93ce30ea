# The Linux kernel's server in this guest exports a directory to Kerberos alone; its kernel's client mounts that through a relay on the
# host, which passes calls through and has no key of the realm.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/pass-through.sh"
for command in rpc.nfsd rpc.gssd rpc.svcgssd kinit krb5kdc kadmin.local; do
    command -v $command >/dev/null || skip "$command is not installed"
done
. "$WORK/scripts/krb5-lib.sh"

# The client asks for a ticket for the host that it mounts from, which is the relay: the far server holds the key of that name.
name_hosts
start_realm nfs/relay.test nfs/guest.test
FILE_SYSTEM=tmpfs TMPFS_SIZE=400M SECURITY=krb5:krb5i:krb5p NFS4=yes
. "$WORK/scripts/nfsd.sh"
start_daemons
ticket_of_alice
pass_through "nfs://$GUEST_ADDRESS?nfsport=2049&mountport=20048"
mkdir -m 700 /mnt/s/alice
chown 1234:1234 /mnt/s/alice

# mount_by VERSION FLAVOR
mount_by() {
    case $1 in
        3)
            MOUNT_SOURCE=relay.test:/mnt/s
            mount_by_ticket "vers=3,proto=tcp,port=2050,mountport=2050,mountproto=tcp,nolock,sec=$2"
            ;;
        *)
            MOUNT_SOURCE=relay.test:/
            mount_by_ticket "vers=$1,proto=tcp,port=2050,sec=$2"
            ;;
    esac
}

# write_as_alice FILE: SIZE bytes into her directory, as they are read again from the server.
write_as_alice() {
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | as 1234 tee "/mnt/n/alice/$1" >/dev/null
    drop_caches
    "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | as 1234 cmp - "/mnt/n/alice/$1" || fail "other bytes come back: $1"
    equal "$(stat -c %u "/mnt/s/alice/$1")" 1234 "owner of $1 on the server"
    as 1234 rm "/mnt/n/alice/$1"
}

# check VERSION SECURITY
check() {
    mount_by "$1" "$2" | grep -q "vers=$1.*sec=$2," || fail "no mount of version $1 with $2"
    write_as_alice "$1-$2"
    refused "denied" as 1235 ls /mnt/n/alice
    umount /mnt/n
}

if [ "$ALL" = 1 ]; then VERSIONS="3 4.1 4.2" PROTECTIONS="krb5 krb5i krb5p"; else VERSIONS="3 4.2" PROTECTIONS="krb5p"; fi
for version in $VERSIONS; do
    for protection in $PROTECTIONS; do check "$version" "$protection"; done
done
# What the server refuses without the relay it refuses through it.
for version in $VERSIONS; do
    refused "" mount_by "$version" sys
done

# A relay that is killed takes no context with it: the client goes on over a new connection.
mount_by 4.2 krb5i
"$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | as 1234 tee /mnt/n/alice/killed >/dev/null &
writer=$!
until [ -s /mnt/s/alice/killed ]; do sleep 0.02; done
end_on_host KILL "$WORK/relay.pid"
pass_through "nfs://$GUEST_ADDRESS?nfsport=2049&mountport=20048"
wait "$writer"
drop_caches
"$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | cmp - /mnt/s/alice/killed
umount /mnt/n
