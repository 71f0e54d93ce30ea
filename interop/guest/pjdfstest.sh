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
# Files and tests of them that fail on every NFS server: a client renames an open file that is removed, so its link count stays 1.
accepted="unlink/14.t 4"
failed=$(awk '/\(Wstat:/ { n = split($1, path, "/"); file = path[n - 1] "/" path[n] }
    /Failed tests?:/ { sub(/.*: */, ""); print file, $0 }
    /Parse errors/ { print file, "parse errors" }' "$WORK/log/pjdfstest.txt")
[ "$code" = 0 ] || [ -n "$failed" ] || fail "it ended with $code"
[ "$failed" = "$accepted" ] || fail "failed are '$failed', accepted is '$accepted'"
umount /mnt/n
