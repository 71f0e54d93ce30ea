# NFStest (3.2, for Python 3): POSIX calls, locks of two processes, holes, allocation and extended attributes, and what the client sends for
# them. tcpdump, where the guest has none, may be beside the suite. With KERNEL=1 the guest's own kernel serves, to compare.
. "$WORK/scripts/lib.sh"
suite=$SUITES/nfstest-3.2
[ -x "$suite/test/nfstest_posix" ] || skip "no nfstest-3.2 in '$suite'; see --suites"
[ "$KERNEL" = 0 ] || . "$WORK/scripts/kernel-beside.sh"
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
mount -t tmpfs tmpfs /tmp
cat >/run/tcpdump <<T
#!/bin/sh
PATH=\$PATH:$SUITES/tcpdump/usr/bin LD_LIBRARY_PATH=$SUITES/tcpdump/usr/lib/x86_64-linux-gnu exec tcpdump -Z root "\$@"
T
chmod +x /run/tcpdump
interface=vec0
[ "$KERNEL" = 0 ] || interface=lo
mkdir -p "$WORK/log/nfstest"
failed=""
for program in posix lock sparse alloc xattr; do
    code=0 log="$WORK/log/nfstest/$program"
    (cd /tmp && PYTHONPATH=$suite PYTHONDONTWRITEBYTECODE=1 timeout 1500 /usr/bin/python3 "$suite/test/nfstest_$program" --server "${MOUNT_SOURCE%%:*}" \
        --export "${MOUNT_SOURCE#*:}" --nfsversion 4.2 --mtpoint /mnt/n --interface "$interface" --tcpdump /run/tcpdump --rmtraces \
        --xunit-report-file "$log.xml") >"$log.txt" 2>&1 || code=$?
    note "$program: $(grep -E '^[0-9]+ tests' "$log.txt" || echo "ended with $code: $(tail -n 1 "$log.txt")")"
    sed -n 's/^ *FAIL: /fails: /p' "$log.txt" | head -n 20
    failed="$failed$(sed -n "s/^ *FAIL: /$program: /p" "$log.txt")
"
    case $code in 0 | 1) ;; *) fail "$program ended with $code" ;; esac
    umount /mnt/n 2>/dev/null || :
done
[ -z "$(echo $failed)" ] || fail "$failed"
