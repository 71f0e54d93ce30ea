# pjdfstest: POSIX as file systems have it, by name and by user. With KERNEL=1 the guest's own kernel serves, to compare.
. "$WORK/scripts/lib.sh"
suite=$SUITES/pjdfstest
[ -x "$suite/pjdfstest" ] || skip "no pjdfstest in '$suite'; see --suites"
[ "$KERNEL" = 0 ] || . "$WORK/scripts/kernel-beside.sh"
mount_export
mkdir -m 755 /mnt/n/pjdfstest
cd /mnt/n/pjdfstest
code=0
prove -r "$suite/tests" >"$WORK/log/pjdfstest.txt" 2>&1 || code=$?
cd /
note "$(grep '^Files=' "$WORK/log/pjdfstest.txt"), $(grep -c 'Failed test' "$WORK/log/pjdfstest.txt") files with failures"
sed -n '/^Test Summary Report/,$p' "$WORK/log/pjdfstest.txt"
[ "$code" = 0 ] || fail "$(grep -c 'Wstat' "$WORK/log/pjdfstest.txt") of its files"
umount /mnt/n
