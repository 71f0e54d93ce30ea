# xfstests: the quick ones of its generic tests from FROM to TO, or those that the file `only` in its directory names. With KERNEL=1 the
# guest's own kernel serves, to compare.
. "$WORK/scripts/lib.sh"
[ -x "$SUITES/xfstests/ltp/fsx" ] || skip "no xfstests in '$SUITES'; see --suites"
[ "$KERNEL" = 0 ] || . "$WORK/scripts/kernel-beside.sh"
# It writes into its directory, into /tmp, and wants users.
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
mkdir -p /run/changes /run/etc /mnt/scratch
mount -t tmpfs tmpfs /run/changes
cp -a "$SUITES/xfstests" /run/changes/xfstests
cp /etc/passwd /etc/group /etc/shadow /run/etc/
for user in fsgqa 123456-fsgqa fsgqa2; do
    echo "$user:x:$((60000 + ${#user})):$((60000 + ${#user}))::/run:/bin/sh" >>/run/etc/passwd
    echo "$user:x:$((60000 + ${#user})):" >>/run/etc/group
    # Without this su(1) takes them for expired.
    echo "$user:*:20000:0:99999:7:::" >>/run/etc/shadow
done
for file in passwd group shadow; do mount --bind "/run/etc/$file" "/etc/$file"; done
cd /run/changes/xfstests
mount -t tmpfs tmpfs /tmp
mount_export
mkdir -p /mnt/n/test /mnt/n/scratch
umount /mnt/n
case $MOUNT_SOURCE in */) base=$MOUNT_SOURCE ;; *) base=$MOUNT_SOURCE/ ;; esac
# MOUNT_OPTIONS is ours and theirs, with other words in it. Without `nosharecache` both mounts are one to the client: where a test mounts
# one anew to be only read, so is the other (generic/306, and generic/309 after it).
options=$MOUNT_OPTIONS,nosharecache
cat >local.config <<C
export FSTYP=nfs
export TEST_DEV=${base}test
export TEST_DIR=/mnt/n
export SCRATCH_DEV=${base}scratch
export SCRATCH_MNT=/mnt/scratch
export MOUNT_OPTIONS="-o $options"
export NFS_MOUNT_OPTIONS="-o $options"
export TEST_FS_MOUNT_OPTS="-o $options"
export RESULT_BASE=$WORK/log/xfstests
C
mkdir -p "$WORK/log/xfstests"
# What needs a disk, quotas, shared blocks or calls that NFS does not have would be found out by each test itself, after seconds.
never='_require_[a-z_]*(reflink|dedupe|dm_target|quota|shutdown|block_device|verity|encryption|exchangerange|metadata_journaling|delalloc'
never="$never|swapfile|local_device|scsi_debug|write_atomic|idmapped|dax|casefold|logdev|norecovery|chattr|fiemap|nolvm|large_scratch"
never="$never|thp|xfs_crc|loop)|_require_xfs_io_command \"?(fiemap|fcollapse|finsert|fzero|exchangerange|startupdate|funshare"
never="$never|chattr|lsattr|flink)"
if [ -s only ]; then
    tests=$(cat only)
else
    tests=$(awk -v from="$FROM" -v to="$TO" '/ quick( |$)/ && $1 + 0 >= from && $1 + 0 <= to { print "tests/generic/" $1 }' \
        tests/generic/group.list | xargs grep -LE "$never" | sed 's|^tests/||')
fi
code=0
./check -nfs $tests >"$WORK/log/xfstests.txt" 2>&1 || code=$?
of() { sed -n "s/^$1: *//p" "$WORK/log/xfstests.txt" | tail -n 1; }
failed=$(of Failures) not_run=$(of "Not run") ran=$(of Ran)
[ -n "$ran" ] || fail "no test ran: $(tail -n 2 "$WORK/log/xfstests.txt" | tr '\n' ' ')"
[ "$code" = 0 ] || [ -n "$failed" ] || fail "it ended with $code"
note "$(echo "$ran" | wc -w) tests, of which $(echo "$not_run" | wc -w) cannot run here and $(echo "$failed" | wc -w) failed"
. "$WORK/scripts/xfstests-accepted.sh"
has() { case " $1 " in *" $2 "*) ;; *) return 1 ;; esac; }
wrong=""
for name in $failed; do
    has "$(accepted | sed 's/ .*//' | tr '\n' ' ')" "$name" || wrong="$wrong $name fails;"
done
for name in $(accepted | sed 's/ .*//'); do
    ! has "$ran" "$name" || has "$failed" "$name" || has "$not_run" "$name" || wrong="$wrong $name passes;"
done
[ -z "$wrong" ] || fail "other than accepted:$wrong"
