# howdah in this guest with quotas of ext4 and XFS: what `quota` shows of NFS mounts is what `repquota` shows of the disks, below a deep
# path, for two exports of one disk, and for a disk that is mounted below an export. Writes beyond a limit are refused with EDQUOT, and df
# shows what a quota leaves where the export says so.
. "$WORK/scripts/lib.sh"
for command in quota setquota repquota rpcbind rpcinfo; do
    command -v $command >/dev/null || skip "$command is not installed"
done
mkdir -p /run/image /run/state /run/m /run/rpcbind /run/c
mount -t tmpfs -o size=700m tmpfs /run/image
for module in loop quota_v2 xfs; do /run/modprobe $module || :; done

truncate -s 64M /run/image/ext4
mkfs.ext4 -q -O quota -E quotatype=usrquota:grpquota /run/image/ext4
truncate -s 320M /run/image/xfs
mkfs.xfs -q /run/image/xfs
mkdir -p /mnt/s
mount -t ext4 -o loop,usrquota,grpquota /run/image/ext4 /mnt/s || skip "this kernel has no quotas of ext4"
mkdir -p /mnt/s/deep/down /mnt/s/below
mount -t xfs -o loop,usrquota,grpquota /run/image/xfs /mnt/s/below || skip "this kernel has no quotas of XFS"
chmod 777 /mnt/s /mnt/s/deep /mnt/s/deep/down /mnt/s/below
setquota -u 1001 1000 2000 20 40 /mnt/s
setquota -g 2000 3000 4000 0 0 /mnt/s
setquota -u 1001 8000 9000 5 6 /mnt/s/below
# More than 32 bits of blocks of 1 KiB.
setquota -u 1003 0 $((5 << 30)) 0 0 /mnt/s/below

cat >"$WORK/howdah.toml" <<TOML
quotas = true
[[export]]
name = "/all"
path = "/mnt/s"
cross_mounts = true
privileged_ports = false
[[export]]
name = "/other"
path = "/mnt/s/deep"
privileged_ports = false
quota_in_df = true
TOML
pgrep -x rpcbind >/dev/null || rpcbind -w
"$HOWDAH" serve --config "$WORK/howdah.toml" --sandbox "${SANDBOX:-seccomp}" --state /run/state >"$WORK/log/howdah.txt" 2>&1 &
howdah=$!
until grep -q '^Stop: ' "$WORK/log/howdah.txt"; do
    [ -d /proc/$howdah ] || fail "howdah does not start: $(cat "$WORK/log/howdah.txt")"
    sleep 0.1
done
for version in 1 2; do
    for transport in tcp udp; do
        rpcinfo -n 2049 -T $transport 127.0.0.1 100011 $version >>"$WORK/log/rpcinfo.txt" || fail "no answer of version $version over $transport"
    done
done

mkdir -p /run/c/all /run/c/deep /run/c/below /run/c/other
mount -t nfs -o vers=3,nolock 127.0.0.1:/all /run/c/all
mount -t nfs -o vers=3,nolock,nosharecache 127.0.0.1:/all/deep/down /run/c/deep
mount -t nfs -o vers=3,nolock,nosharecache 127.0.0.1:/all/below /run/c/below
mount -t nfs -o vers=4.2,nosharecache 127.0.0.1:/other /run/c/other
as 1001 dd if=/dev/zero of=/run/c/deep/file bs=1k count=700 status=none
as 1001 chgrp 2000 /run/c/deep/file
as 1001 dd if=/dev/zero of=/run/c/below/file bs=1k count=900 status=none
sync

# shown KIND ID MOUNT: used, soft and hard, of blocks and files, as a client's `quota` shows them.
shown() { as "${AS:-$2}" quota "$1" -w -v -p --show-mntpoint --hide-device --filesystem="$3" "$2" 2>&1 | awk -v mount="$3" '$1 == mount { gsub(/\*/, ""); print $2, $3, $4, $6, $7, $8 }'; }
# kept KIND NAME DISK: the same as `repquota` shows it on the server.
kept() { repquota "$1" -v -n -p "$3" | awk -v name="#$2" '$1 == name { print $3, $4, $5, $7, $8, $9 }'; }

for pair in all:/mnt/s deep:/mnt/s below:/mnt/s/below other:/mnt/s; do
    equal "$(shown -u 1001 /run/c/"${pair%%:*}")" "$(kept -u 1001 "${pair#*:}")" "quota of user 1001 at ${pair%%:*}"
done
equal "$(AS=1001 shown -g 2000 /run/c/all)" "$(kept -g 2000 /mnt/s)" "quota of group 2000"
equal "$(AS=0 shown -u 1003 /run/c/below)" "$(kept -u 1003 /mnt/s/below)" "a limit of 5 TiB, asked for by root"
case "$(kept -u 1001 /mnt/s)" in "700 1000 2000 1 20 40" | "704 1000 2000 1 20 40") ;; *) fail "repquota: $(kept -u 1001 /mnt/s)" ;; esac
equal "$(as 1002 quota -u -w --filesystem=/run/c/all 1001 2>&1 | grep -c 1000)" 0 "the quota of another user"

# size USER MOUNT: KiB of the file system as df shows them.
size() { as "$1" df -P -k "$2" | awk 'END { print $2 }'; }
[ "$(size 1001 /run/c/other)" -le 3072 ] || fail "df shows $(size 1001 /run/c/other) KiB to a user who may have 2000"
[ "$(size 0 /run/c/other)" -gt 30000 ] || fail "df shows $(size 0 /run/c/other) KiB to root"
[ "$(size 1001 /run/c/all)" -gt 30000 ] || fail "df of an export without quota_in_df: $(size 1001 /run/c/all)"

# Beyond the limits.
for place in deep other; do
    refused "quota exceeded" as 1001 dd if=/dev/zero of=/run/c/$place/large bs=64k count=60 conv=fsync status=none
    rm -f /run/c/$place/large
done
note "$(shown -u 1001 /run/c/all) of user 1001, $(AS=0 shown -u 1003 /run/c/below) of 1003"
umount /run/c/all /run/c/deep /run/c/below /run/c/other
kill $howdah
wait $howdah
