# Two mounts, each of another head: names are made, renamed and removed through both at once, and each change is made by one alone.
. "$WORK/scripts/lib.sh"
mount_export
mkdir -p /mnt/1 /mnt/2
for head in 1 2; do
    mount -t nfs -o "$MOUNT_OPTIONS,noac,nosharecache,lookupcache=none" "10.99.0.1$head:$EXPORT_NAME" "/mnt/$head"
done
# Each makes what the other one waits for.
echo one >/mnt/1/one
equal "$(cat /mnt/2/one)" one "what the other head made"
equal "$(stat -c %i /mnt/1/one)" "$(stat -c %i /mnt/2/one)" "file number"
# How many files fit, the cluster counts anew with each that is made. The size follows that of the disk below.
try=0
until [ "$(stat -f -c '%b %S' /mnt/1)" = "$(stat -f -c '%b %S' /mnt/2)" ]; do
    try=$((try + 1))
    [ $try -lt 50 ] || fail "two sizes"
done
won=0
round=0
race() {
    "$1" 1 >/run/race1 2>&1 & first=$!
    "$1" 2 >/run/race2 2>&1 & second=$!
    wins=0
    wait $first && wins=$((wins + 1))
    wait $second && wins=$((wins + 1))
    equal $wins 1 "round $round: $1 succeeded so many times"
}
# Each round has names of its own: ceph-fuse 16.2.15 may never again look at a name whose change lost a race.
make() { mkdir "/mnt/$1/made$round"; }
move() { mv -T "/mnt/$1/made$round" "/mnt/$1/moved$round-$1"; }
while [ $round -lt "$ROUNDS" ]; do
    round=$((round + 1))
    race make
    race move
    # Not by a listing: MooseFS would give that again for a second, with what the other head has removed.
    [ -d "/mnt/1/moved$round-1" ] && name=moved$round-1 || name=moved$round-2
    equal "$(stat -c %i /mnt/1/$name)" "$(stat -c %i /mnt/2/$name)" "round $round: file number"
    remove() { rmdir "/mnt/$1/$name"; }
    race remove
    equal "$(ls /mnt/1)" "$(ls /mnt/2)" "round $round: names"
done
# What is left for the host to compare, made through one head and the other.
for head in 1 2; do
    mkdir "/mnt/$head/kept$head"
    for name in a b c; do echo $name >"/mnt/$head/kept$head/$name"; done
    ln -s a "/mnt/$head/kept$head/link"
done
# The suite, on the mount of a head.
tell_host conform
until [ -e "$WORK/conformed" ]; do sleep 0.1; done
note "$(head -1 "$WORK/conformed")"
note "$round rounds: made, renamed and removed by one head each time"
