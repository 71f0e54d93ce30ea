# The same data copied by cp over the kernel's mount, by howdah cp, and by libnfs's nfs-cp, in turn, all in this guest,
# from and to the same files and the same server: one file of SIZE bytes, and FILES files of 1 MB each, both directions,
# ROUNDS times. The guest's clock is its own: at the end it is held against the host's, which a file's time tells.
. "$WORK/scripts/lib.sh"
url="nfs://$SERVER_ADDRESS:$PORT/"
libnfs() { echo "nfs://$SERVER_ADDRESS//$1?nfsport=$PORT&mountport=$PORT&version=3"; }
now() { cut -d' ' -f1 /proc/uptime; }
host_now() { : >"$WORK/now" && stat -c %Y "$WORK/now"; }

# timed NAME COMMAND…: how long it takes, as a line of $WORK/times.
timed() {
    name=$1
    shift
    drop_caches
    begin=$(now)
    "$@"
    end=$(now)
    echo "$name $(echo "$end $begin" | awk '{ printf "%.3f", $1 - $2 }')" >>"$WORK/times"
}

each_by_libnfs_up() { for file in "$WORK"/source/many/*; do nfs-cp "$file" "$(libnfs "many-libnfs/${file##*/}")" >/dev/null; done; }
each_by_libnfs_down() {
    mkdir "$WORK/out/many"
    for file in "$WORK"/source/many/*; do nfs-cp "$(libnfs "many/${file##*/}")" "$WORK/out/many/${file##*/}" >/dev/null; done
}

# same DIRECTION WHAT WHERE: a copy is what it should be.
same() { diff -rq "$WORK/source/$1" "$2" || fail "$2 is no copy of $1"; }

mkdir -p "$WORK/source/many" "$WORK/out"
"$TOOL" pattern --seed "$SEED" --bytes "$SIZE" >"$WORK/source/big"
"$TOOL" pattern --seed "$((SEED + 1))" --bytes "$((FILES * 1000000))" |
    (cd "$WORK/source/many" && split -b 1000000 -a 5 -d - file-)
cp -r "$WORK/source/." "$EXPORT_DIRECTORY/"
mount_export
: >"$WORK/times"
started=$(now) host_started=$(host_now)
for round in $(seq "$ROUNDS"); do
    timed up-big-kernel cp "$WORK/source/big" /mnt/n/big-kernel
    timed up-big-howdah "$HOWDAH" cp -q "$WORK/source/big" "${url}big-howdah"
    timed up-big-libnfs nfs-cp "$WORK/source/big" "$(libnfs big-libnfs)" >/dev/null
    for by in kernel howdah libnfs; do
        same big "$EXPORT_DIRECTORY/big-$by"
        rm "$EXPORT_DIRECTORY/big-$by"
    done
    timed down-big-kernel cp /mnt/n/big "$WORK/out/big"
    same big "$WORK/out/big" && rm "$WORK/out/big"
    timed down-big-howdah "$HOWDAH" cp -q --no-sync "${url}big" "$WORK/out/big"
    same big "$WORK/out/big" && rm "$WORK/out/big"
    timed down-big-howdah-synced "$HOWDAH" cp -q "${url}big" "$WORK/out/big"
    rm "$WORK/out/big"
    timed down-big-libnfs nfs-cp "$(libnfs big)" "$WORK/out/big" >/dev/null
    same big "$WORK/out/big" && rm "$WORK/out/big"

    mkdir "$EXPORT_DIRECTORY/many-libnfs" && chmod 777 "$EXPORT_DIRECTORY/many-libnfs"
    timed up-many-kernel cp -r "$WORK/source/many" /mnt/n/many-kernel
    timed up-many-howdah "$HOWDAH" cp -q -r "$WORK/source/many" "${url}many-howdah"
    timed up-many-libnfs each_by_libnfs_up
    for by in kernel howdah libnfs; do
        same many "$EXPORT_DIRECTORY/many-$by"
        rm -r "$EXPORT_DIRECTORY/many-$by"
    done
    timed down-many-kernel cp -r /mnt/n/many "$WORK/out/many"
    same many "$WORK/out/many" && rm -r "$WORK/out/many"
    timed down-many-howdah "$HOWDAH" cp -q -r --no-sync "${url}many" "$WORK/out/many"
    same many "$WORK/out/many" && rm -r "$WORK/out/many"
    timed down-many-howdah-synced "$HOWDAH" cp -q -r "${url}many" "$WORK/out/many"
    rm -r "$WORK/out/many"
    timed down-many-libnfs each_by_libnfs_down
    same many "$WORK/out/many" && rm -r "$WORK/out/many"
done

median() { awk -v name="$1" '$1 == name { print $2 }' "$WORK/times" | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
for what in up-big down-big up-many down-many; do
    kernel=$(median "$what-kernel") ours=$(median "$what-howdah") libnfs=$(median "$what-libnfs") synced=$(median "$what-howdah-synced")
    note "$what: howdah cp $ours s, cp on the kernel's mount $kernel s ($(echo "$kernel $ours" | awk '{ printf "%.2f", $1 / $2 }') times), nfs-cp $libnfs s ($(echo "$libnfs $ours" | awk '{ printf "%.2f", $1 / $2 }') times)${synced:+; howdah cp that waits for the disk $synced s}"
done
took=$(echo "$(now) $started" | awk '{ printf "%d", $1 - $2 }') host_took=$(($(host_now) - host_started))
note "all of it took $took s by the guest's clock, $host_took s by the host's"
[ $((took - host_took)) -le 5 ] && [ $((host_took - took)) -le 5 ] || fail "the guest's clock went wrong"
