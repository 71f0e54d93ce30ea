# xfstests: the quick ones of its generic tests, or those that the file `only` in its directory names. With KERNEL=1 the guest's own kernel
# serves, to compare.
. "$WORK/scripts/lib.sh"
[ -x "$SUITES/xfstests/ltp/fsx" ] || skip "no xfstests in '$SUITES'; see --suites"
[ "$KERNEL" = 0 ] || . "$WORK/scripts/kernel-beside.sh"
# It writes into its directory, into /tmp, and wants users.
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
mkdir -p /run/xfstests /run/changes /run/before /run/etc /mnt/scratch
mount -t tmpfs tmpfs /run/changes
mkdir /run/changes/up /run/changes/work
cp -a "$SUITES/xfstests" /run/changes/xfstests
cp /etc/passwd /etc/group /run/etc/
for user in fsgqa 123456-fsgqa fsgqa2; do
    echo "$user:x:$((60000 + ${#user})):$((60000 + ${#user}))::/run:/bin/sh" >>/run/etc/passwd
    echo "$user:x:$((60000 + ${#user})):" >>/run/etc/group
done
mount --bind /run/etc/passwd /etc/passwd
mount --bind /run/etc/group /etc/group
cd /run/changes/xfstests
mount -t tmpfs tmpfs /tmp
mount_export
mkdir -p /mnt/n/test /mnt/n/scratch
umount /mnt/n
case $MOUNT_SOURCE in */) base=$MOUNT_SOURCE ;; *) base=$MOUNT_SOURCE/ ;; esac
cat >local.config <<C
export FSTYP=nfs
export TEST_DEV=${base}test
export TEST_DIR=/mnt/n
export SCRATCH_DEV=${base}scratch
export SCRATCH_MNT=/mnt/scratch
export NFS_MOUNT_OPTIONS="-o $MOUNT_OPTIONS"
export TEST_FS_MOUNT_OPTS="-o $MOUNT_OPTIONS"
export RESULT_BASE=$WORK/log/xfstests
C
mkdir -p "$WORK/log/xfstests"
code=0
if [ -s only ]; then set -- $(cat only); else set -- -g quick -e generic/531,generic/251,generic/476,generic/650; fi
case $1 in -g) find tests -maxdepth 1 -mindepth 1 ! -name generic ! -name nfs -exec rm -rf {} + ;; esac
./check -nfs "$@" >"$WORK/log/xfstests.txt" 2>&1 || code=$?
note "$(tail -n 3 "$WORK/log/xfstests.txt" | tr '\n' ' ')"
[ "$code" = 0 ] || fail "$(tail -n 2 "$WORK/log/xfstests.txt" | tr '\n' ' ')"
