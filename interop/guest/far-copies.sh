# The Linux kernel's server in this guest, 100 ms away: howdah on the host copies small files there and back, over 3 and over 4.1. The
# server grants a session few slots, which must not limit.
. "$WORK/scripts/lib.sh"
for command in rpc.nfsd tc; do
    command -v $command >/dev/null || skip "$command is not installed"
done
FILE_SYSTEM=tmpfs TMPFS_SIZE=200M NFS4=yes
. "$WORK/scripts/nfsd.sh"
/run/modprobe sch_netem
tc qdisc add dev vec0 root netem delay 100ms limit 100000

# url VERSION
url() {
    case $1 in 3) path=/mnt/s ;; *) path= ;; esac
    echo "nfs://$GUEST_ADDRESS$path/copy-$1?version=$1&nfsport=2049&mountport=20048"
}

# copy FROM TO: by the host, whose clock counts. Leaves the milliseconds in `took`.
copy() {
    on_host "
        began=\$(date +%s%N)
        \"$HOWDAH\" cp -q -rT '$1' '$2' 2>\"$WORK/log/copy.txt\"
        echo \$(((\$(date +%s%N) - began) / 1000000)) >\"$WORK/took\"
    " || fail "$1 to $2: $(tail -n 1 "$WORK/log/copy.txt")"
    took=$(cat "$WORK/took")
}

for version in 3 4.1; do
    copy "$WORK/tree" "$(url $version)"
    there=$took
    copy "$(url $version)" "$WORK/back-$version"
    back=$took
    diff -rq "$WORK/tree" "/mnt/s/copy-$version"
    diff -rq "$WORK/tree" "$WORK/back-$version"
    note "$FILES files over $version: $there ms there, $back ms back"
    eval "there_${version%.*}=$there back_${version%.*}=$back"
done
# With 30 calls at once it would take four times as long back as NFSv3. A server in a guest is no even clock: three times is too long.
[ "$there_4" -lt $((there_3 * 3)) ] || fail "there: $there_4 ms over 4.1, $there_3 ms over 3"
[ "$back_4" -lt $((back_3 * 3)) ] || fail "back: $back_4 ms over 4.1, $back_3 ms over 3"
rm -r "$WORK"/back-*
