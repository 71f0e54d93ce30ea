# The Linux kernel's server in this guest exports a directory to Kerberos alone; howdah on the host lists, reads and copies there, as alice.
. "$WORK/scripts/lib.sh"
for command in rpc.nfsd rpc.svcgssd kinit krb5kdc kadmin.local; do
    command -v $command >/dev/null || skip "$command is not installed"
done
. "$WORK/scripts/krb5-lib.sh"

name_hosts
start_realm nfs/guest.test
FILE_SYSTEM=tmpfs TMPFS_SIZE=400M SECURITY=krb5:krb5i:krb5p NFS4=yes
. "$WORK/scripts/nfsd.sh"
start_daemons
mkdir -m 700 /mnt/s/alice
chown 1234:1234 /mnt/s/alice
"$TOOL" pattern --seed "$SEED" --bytes "$SIZE" >"$WORK/pattern"
mkdir "$WORK/tree"
mkdir -m 1777 "$WORK/tickets"
for number in $(seq "$FILES"); do echo "$number" >"$WORK/tree/$number"; done

# by_alice SCRIPT: the host runs it as her. CLIENT is a howdah with her tickets.
by_alice() {
    on_host "
        export KRB5_CONFIG=\"$KRB5/krb5.conf\" KRB5CCNAME=\"FILE:$WORK/tickets/alice\" HOME=/
        alice() { setpriv --reuid 1234 --regid 1234 --clear-groups \"\$@\"; }
        {
            $1
        } >\"$WORK/log/alice.txt\" 2>&1
    "
}

# url VERSION FLAVOR NAME
url() {
    case $1 in 3) path=/mnt/s ;; *) path= ;; esac
    echo "nfs://$GUEST_ADDRESS$path/alice/$3?version=$1&nfsport=2049&mountport=20048&sec=$2&krb5name=guest.test"
}

# check VERSION FLAVOR
check() {
    by_alice "
        alice \"$HOWDAH\" cp -q \"$WORK/pattern\" '$(url "$1" "$2" file)'
        alice \"$HOWDAH\" cat '$(url "$1" "$2" file)' | cmp - \"$WORK/pattern\"
        alice \"$HOWDAH\" cp -q -r \"$WORK/tree\" '$(url "$1" "$2" tree)'
        test \$(alice \"$HOWDAH\" ls '$(url "$1" "$2" tree)' | wc -l) = $FILES
    " || fail "version $1 with $2: $(tail -n 3 "$WORK/log/alice.txt")"
    cmp "$WORK/pattern" /mnt/s/alice/file
    diff -rq "$WORK/tree" /mnt/s/alice/tree
    equal "$(stat -c %u /mnt/s/alice/file)" 1234 "owner of the copy"
    rm -r /mnt/s/alice/file /mnt/s/alice/tree
}

by_alice "echo secret | alice kinit alice" || fail "no ticket: $(tail -n 1 "$WORK/log/alice.txt")"
for version in 3 4.1 4.2; do
    for flavor in krb5 krb5i krb5p; do check $version $flavor; done
done
by_alice "alice \"$HOWDAH\" doctor --kerberos '$(url 4.2 krb5p "")'" ||
    fail "the doctor finds a fault: $(cat "$WORK/log/alice.txt")"

# Less than the export asks for is refused, and so is a user without a ticket.
if by_alice "alice \"$HOWDAH\" ls '$(url 3 sys "")'"; then fail "sec=sys was accepted"; fi
grep -q "krb5, krb5i, krb5p" "$WORK/log/alice.txt" || fail "no flavors are named: $(cat "$WORK/log/alice.txt")"
if by_alice "KRB5CCNAME=FILE:/none alice \"$HOWDAH\" ls '$(url 3 krb5 "")'"; then fail "no ticket, and no error"; fi
grep -q kinit "$WORK/log/alice.txt" || fail "nothing says kinit: $(cat "$WORK/log/alice.txt")"
rm "$WORK/pattern"
