# howdah in this guest, beside the kernel's own server, on each of its file systems: changes within one tick of this kernel's clock,
# file systems below an export, files that lose their name while they are open, and files made exclusively.
. "$WORK/scripts/lib.sh"
command -v rpc.nfsd >/dev/null || skip "rpc.nfsd is not installed"
SYSTEMS=tmpfs
mkdir -p /run/image /run/state /run/m
mount -t tmpfs -o size=700m tmpfs /run/image
/run/modprobe loop || :

# prepare TYPE MEBIBYTES [MOUNT OPTIONS]: an empty file system on a disk of memory, at /mnt/s/TYPE.
prepare() {
    command -v "mkfs.$1" >/dev/null || { note "no mkfs.$1"; return; }
    /run/modprobe "$1" || :
    grep -qw "$1" /proc/filesystems || { note "this kernel has no $1"; return; }
    truncate -s "$2M" "/run/image/$1"
    "mkfs.$1" "/run/image/$1" >"$WORK/log/mkfs-$1.txt" 2>&1
    mkdir -p "/mnt/s/$1"
    mount -t "$1" -o "loop${3:+,$3}" "/run/image/$1" "/mnt/s/$1"
    SYSTEMS="$SYSTEMS $1"
}
mkdir -p /mnt/s/tmpfs
mount -t tmpfs tmpfs /mnt/s/tmpfs
/run/modprobe nls_cp437 || :
/run/modprobe nls_ascii || :
prepare ext4 32
prepare xfs 320
prepare btrfs 128
prepare vfat 16 umask=0

: >"$WORK/howdah.toml"
for system in $SYSTEMS; do
    top=/mnt/s/$system
    # What is below another file system, and has the number of the top.
    mkdir -p "$top/below"
    case $system in
        btrfs) btrfs subvolume create "$top/subvolume" >/dev/null && mkdir "$top/subvolume/deep" && : >"$top/subvolume/deep/file" ;;
        vfat) ;;
        *) chmod 777 "$top" ;;
    esac
    mount -t tmpfs tmpfs "$top/below"
    mkdir "$top/below/deep"
    : >"$top/below/deep/file"
    printf '[[export]]\nname = "/%s"\npath = "%s"\nsquash = "none"\ncross_mounts = true\nprivileged_ports = false\n' \
        "$system" "$top" >>"$WORK/howdah.toml"
done
"$HOWDAH" serve --config "$WORK/howdah.toml" --listen 127.0.0.1:2050 --no-udp --rpcbind off --state /run/state \
    >"$WORK/log/howdah.txt" 2>&1 &
howdah=$!

# The kernel's server, on ext4.
mkdir -p /run/rpcbind /var/lib/nfs/v4recovery
mount --bind /dev/null /etc/nfs.conf
/run/modprobe nfsd
mount -t nfsd nfsd /proc/fs/nfsd
: >/var/lib/nfs/etab
: >/var/lib/nfs/rmtab
pgrep -x rpcbind >/dev/null || rpcbind -w
exportfs -o rw,async,no_root_squash,insecure,fsid=0,no_subtree_check '*:/mnt/s/ext4'
rpc.mountd --port 20048
for time in lease grace; do echo 10 >/proc/fs/nfsd/nfsv4${time}time; done
rpc.nfsd --tcp 8
until grep -q '^Stop: ' "$WORK/log/howdah.txt"; do
    [ -d /proc/$howdah ] || fail "howdah does not start: $(cat "$WORK/log/howdah.txt")"
    sleep 0.1
done

# old_reads WRITTEN READ NAME: how often a client that read between two changes has the old data afterwards. Without programs, which would
# take longer than a tick: in the same place, and as many bytes.
old_reads() {
    old=0 round=0
    printf 'a000000\n' >"$1/$3"
    while [ $round -lt "$ROUNDS" ]; do
        round=$((round + 1))
        printf 'a%06d\n' $round 1<>"$1/$3"
        read -r first <"$2/$3"
        printf 'b%06d\n' $round 1<>"$1/$3"
        read -r second <"$2/$3"
        [ "$second" = "$(printf 'b%06d' $round)" ] || old=$((old + 1))
    done
    : "$first"
}

# old_names MADE LOOKED NAME: how often a client does not see a name that was made after it had looked for it.
old_names() {
    old=0 round=0
    mkdir -p "$1/$3"
    while [ $round -lt "$ROUNDS" ]; do
        round=$((round + 1))
        : >"$1/$3/x$round"
        [ ! -e "$2/$3/y$round" ] || fail "y$round is there"
        : >"$1/$3/y$round"
        [ -e "$2/$3/y$round" ] || old=$((old + 1))
    done
}

try() {
    system=$1 server=$2 port=$3 path=$4
    top=/mnt/s/$system
    mkdir -p /run/m/reader /run/m/writer
    # Directories are asked for at once: how long a client trusts a listing is its own affair.
    mount -t nfs -o "vers=4.2,port=$port,acdirmin=0,acdirmax=0" "127.0.0.1:$path" /run/m/reader
    mount -t nfs -o "vers=4.2,port=$port,nosharecache" "127.0.0.1:$path" /run/m/writer
    for who in here:$top client:/run/m/writer; do
        old_reads "${who#*:}" /run/m/reader "data-$server-${who%%:*}"
        [ "$server" = kernel ] || equal "$old" 0 "$system: old data read, of $ROUNDS, written by ${who%%:*}"
        data=$old
        old_names "${who#*:}" /run/m/reader "names-$server-${who%%:*}"
        [ "$server" = kernel ] || equal "$old" 0 "$system: names not seen, of $ROUNDS, made by ${who%%:*}"
        [ "$server" = howdah ] || note "the kernel's server, written by ${who%%:*}: $data times old data, $old names not seen"
    done
    if [ "$server" = howdah ]; then
        below
        open_files
        default_acl
        exclusive
    fi
    umount /run/m/reader /run/m/writer
}

# Everything below is found, whatever file system it is on.
below() {
    find /run/m/reader >"$WORK/log/found-$system.txt" 2>"$WORK/log/find-errors-$system.txt" || :
    equal "$(cat "$WORK/log/find-errors-$system.txt")" "" "$system: find"
    equal "$(sed 's,/run/m/reader,,' "$WORK/log/found-$system.txt" | sort | sha256sum)" \
        "$(find "$top" | sed "s,$top,," | sort | sha256sum)" "$system: what find finds"
    equal "$(du -a /run/m/reader 2>&1 >/dev/null)" "" "$system: du"
}

# What is open is read after its name is gone, and its space is free after it is closed.
open_files() {
    for way in removed replaced by-a-client; do
        echo "$way" >"$top/open"
        echo new >"$top/new"
        exec 5</run/m/reader/open
        case $way in
            removed) rm "$top/open" ;;
            replaced) mv "$top/new" "$top/open" ;;
            by-a-client) rm /run/m/writer/open ;;
        esac
        echo 3 >/proc/sys/vm/drop_caches
        equal "$(cat <&5)" "$way" "$system: a file that was $way while it was open"
        exec 5<&-
    done
}

# Where a directory has a default ACL, a client's umask does not apply. The ACL: all to the owner and the group, nothing to others.
default_acl() {
    case $system in vfat) return ;; esac
    mkdir -m 777 "$top/plain" "$top/shared"
    setfacl -d -m u::rwx,g::rwx,o::- "$top/shared" || { note "$system without ACLs"; return; }
    for directory in plain shared; do
        as 1000 sh -ec "umask 022; cd /run/m/writer/$directory; : >file; mkdir directory"
    done
    equal "$(cd "$top" && stat -c '%n %a' plain/* shared/* | tr '\n' ' ')" \
        "plain/directory 755 plain/file 644 shared/directory 770 shared/file 660 " "$system: modes with and without a default ACL"
}

# cp and sed -i by an ordinary user, who is not the owner of what FAT makes.
exclusive() {
    case $system in vfat) ;; *) mkdir -m 777 "$top/own" ;; esac
    [ -d "$top/own" ] || mkdir "$top/own"
    echo one >"$top/own/source"
    # Over version 3 a client sets the mode next, which FAT lets its owner alone do.
    case $system in vfat) versions=4.2 ;; *) versions="4.2 3" ;; esac
    for version in $versions; do
        umount /run/m/writer
        case $version in 3) more=,mountport=$port,proto=tcp,mountproto=tcp,nolock ;; *) more= ;; esac
        mount -t nfs -o "vers=$version,port=$port,nosharecache$more" "127.0.0.1:$path" /run/m/writer
        own=/run/m/writer/own
        as 1000 cp $own/source "$own/copy-$version" || fail "$system: cp over $version"
        as 1000 sh -ec "set -C; echo new >$own/new-$version" || fail "$system: a new file over $version"
        [ "$version" = 3 ] || as 1000 sed -i s/one/two/ "$own/copy-$version" || fail "$system: sed -i over $version"
        refused "cannot create" as 1000 sh -ec "set -C; echo again >$own/new-$version"
        equal "$(cat "$own/new-$version")" new "$system: what was made exclusively over $version"
    done
    equal "$(cat "$top/own/copy-4.2")" two "$system: what sed -i changed"
    equal "$(find "$top/own" -size 0)" "" "$system: empty files left behind"
}

for system in $SYSTEMS; do try "$system" howdah 2050 "/$system"; done
case $SYSTEMS in *ext4*) try ext4 kernel 2049 / ;; esac
note "$(uname -r), on: $SYSTEMS"
kill $howdah
wait $howdah
