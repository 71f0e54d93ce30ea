# The same data copied with the same server: in this guest by cp over the kernel's mount and by howdah cp, in turn; and on
# the host by libnfs's nfs-cp and by howdah cp, in turn (a guest takes 0.1 s to start a program, and nfs-cp is started for
# each file). One file of SIZE bytes, or FILES files of 1 MB each, ROUNDS times: UP, DOWN, beside the KERNEL's and LIBNFS's,
# each of which can be left out (0). What is copied up and what is copied down is the same file of the host's, so that the
# host's memory holds it once. The host makes it and compares the copies. The guest's clock is its own: at the end it is held
# against the host's, which a file's time tells.
. "$WORK/scripts/lib.sh"
url="nfs://$SERVER_ADDRESS:$PORT/"
libnfs() { echo "nfs://$SERVER_ADDRESS//$1?nfsport=$PORT&mountport=$PORT&version=3"; }
now() { cut -d' ' -f1 /proc/uptime; }
host_now() { : >"$WORK/now" && stat -c %Y "$WORK/now"; }

# timed NAME COMMAND…: how long it takes here, as a line of $WORK/times. The data is read anew; the programs are not.
timed() {
    name=$1
    shift
    drop_caches
    cp --version >"$WORK/versions" && "$HOWDAH" --version >>"$WORK/versions"
    begin=$(now)
    "$@"
    end=$(now)
    echo "$name $(echo "$end $begin" | awk '{ printf "%.3f", $1 - $2 }')" >>"$WORK/times"
    echo "$(tail -n 1 "$WORK/times") (at $end)"
}

# timed_on_host NAME SCRIPT: how long it takes there.
timed_on_host() {
    on_host "begin=\$(date +%s.%N)
$2
echo \"$1 \$begin \$(date +%s.%N)\" | awk '{ printf \"%s %.3f\\n\", \$1, \$3 - \$2 }' >'$WORK/time'" || fail "$1"
    cat "$WORK/time" >>"$WORK/times"
    echo "$(cat "$WORK/time") (at $(now))"
}

# checked COPY: the copy, in the host's directory, is what it should be, and goes.
checked() {
    sync
    on_host "diff -rq '$original' '$1'" || fail "$1 is no copy"
    on_host "rm -r '$1'"
}

# nfs_cp_up, nfs_cp_down: scripts for the host, which name each file.
nfs_cp_up() {
    [ $what = many ] || { echo "nfs-cp '$original' '$(libnfs copy)' >'$WORK/said'"; return; }
    echo "mkdir -m 777 '$EXPORT_DIRECTORY/copy'"
    for name in $names; do echo "nfs-cp '$original/$name' '$(libnfs "copy/$name")' >'$WORK/said'"; done
}
nfs_cp_down() {
    [ $what = many ] || { echo "nfs-cp '$(libnfs $what)' '$WORK/out/copy' >'$WORK/said'"; return; }
    echo "mkdir '$WORK/out/copy'"
    for name in $names; do echo "nfs-cp '$(libnfs "$what/$name")' '$WORK/out/copy/$name' >'$WORK/said'"; done
}

up_in_guest() {
    # Under a name of its own: what the host removes, the kernel still knows for a while.
    timed up-kernel cp -r "$original" "/mnt/n/copy-$number"
    checked "$EXPORT_DIRECTORY/copy-$number"
    timed up-howdah "$HOWDAH" cp -q -r "$original" "${url}copy"
    checked "$EXPORT_DIRECTORY/copy"
}
down_in_guest() {
    timed down-kernel cp -r "/mnt/n/$what" "$WORK/out/copy"
    checked "$WORK/out/copy"
    timed down-howdah "$HOWDAH" cp -q -r --no-sync "$url$what" "$WORK/out/copy"
    checked "$WORK/out/copy"
}
up_on_host() {
    timed_on_host host-up-libnfs "$up_by_libnfs"
    checked "$EXPORT_DIRECTORY/copy"
    timed_on_host host-up-howdah "'$HOWDAH' cp -q -r '$original' '${url}copy'"
    checked "$EXPORT_DIRECTORY/copy"
}
down_on_host() {
    timed_on_host host-down-libnfs "$down_by_libnfs"
    checked "$WORK/out/copy"
    timed_on_host host-down-howdah "'$HOWDAH' cp -q -r --no-sync '$url$what' '$WORK/out/copy'"
    checked "$WORK/out/copy"
}
# each WHAT: up and down, in the guest and on the host, as far as they are asked for.
each() {
    if [ "$UP" = 1 ] && [ "$KERNEL" = 1 ]; then "$1" up guest; fi
    if [ "$DOWN" = 1 ] && [ "$KERNEL" = 1 ]; then "$1" down guest; fi
    if [ "$UP" = 1 ] && [ "$LIBNFS" = 1 ]; then "$1" up host; fi
    if [ "$DOWN" = 1 ] && [ "$LIBNFS" = 1 ]; then "$1" down host; fi
}
run() {
    case $2 in guest) "$1_in_guest" ;; *) "$1_on_host" ;; esac
}

mkdir -p "$WORK/out"
if [ "$SIZE" -gt 0 ]; then
    what=big original=$EXPORT_DIRECTORY/big names=
    on_host "'$TOOL' pattern --seed '$SEED' --bytes '$SIZE' >'$original'"
else
    what=many original=$EXPORT_DIRECTORY/many
    mkdir "$original"
    on_host "'$TOOL' pattern --seed '$SEED' --bytes '$((FILES * 1000000))' |
        (cd '$original' && split -b 1000000 -a 5 -d - file-)"
    names=$(ls "$original")
fi
up_by_libnfs=$(nfs_cp_up) down_by_libnfs=$(nfs_cp_down)
mount_export
: >"$WORK/times"
started=$(now) host_started=$(host_now)
for number in $(seq "$ROUNDS"); do each run; done

median() { awk -v name="$1" '$1 == name { print $2 }' "$WORK/times" | sort -n | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'; }
all() { awk -v name="$1" '$1 == name { printf "%s%s", comma, $2; comma = " " }' "$WORK/times"; }

# beside WAY WHERE: our median beside the other's, with all that were measured.
beside() {
    case $2 in
    guest) prefix= other=kernel name="cp on the kernel's mount, in the guest" ;;
    *) prefix=host- other=libnfs name="nfs-cp, on the host" ;;
    esac
    ours=$(median "$prefix$1-howdah") theirs=$(median "$prefix$1-$other")
    note "$1: howdah cp $ours s, $name $theirs s, $(echo "$theirs $ours" | awk '{ printf "%.2f", $1 / $2 }') times as long" \
        "($(all "$prefix$1-howdah"); $(all "$prefix$1-$other"))"
}
each beside
took=$(echo "$(now) $started" | awk '{ printf "%d", $1 - $2 }') host_took=$(($(host_now) - host_started))
note "all of it took $took s by the guest's clock, $host_took s by the host's"
[ $((took - host_took)) -le 5 ] && [ $((host_took - took)) -le 5 ] || fail "the guest's clock went wrong"
