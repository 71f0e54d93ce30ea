# NFStest (3.2, for Python 3): POSIX calls, locks of two processes, holes, allocation and extended attributes, and what the client sends for
# them. tcpdump, where the guest has none, may be beside the suite. With KERNEL=1 the guest's own kernel serves, to compare.
. "$WORK/scripts/lib.sh"
suite=$SUITES/nfstest-3.2
[ -x "$suite/test/nfstest_posix" ] || skip "no nfstest-3.2 in '$suite'; see --suites"
[ "$KERNEL" = 0 ] || . "$WORK/scripts/kernel-beside.sh"
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
mkdir /run/nfstest
cat >/run/tcpdump <<T
#!/bin/sh
PATH=\$PATH:$SUITES/tcpdump/usr/bin LD_LIBRARY_PATH=$SUITES/tcpdump/usr/lib/x86_64-linux-gnu exec tcpdump -Z root -U --immediate-mode "\$@"
T
chmod +x /run/tcpdump
# It asks which of the guest's addresses leads to 8.8.8.8, and traces what goes to and from there.
ip route add default via "$SERVER_ADDRESS" || :
interface=vec0 server=${MOUNT_SOURCE%%:*}
[ "$KERNEL" = 0 ] || interface=lo server=$GUEST_ADDRESS
mkdir -p "$WORK/log/nfstest"
programs="posix lock sparse alloc xattr" failed=""
[ "$PROGRAM" = 0 ] || programs=$(echo "$programs" | cut -d ' ' -f "$PROGRAM")
for program in $programs; do
    # Two read a mapping as a string, which has no end in it, and crash; two take all that is left of the disk; some want a client of 4.0
    # that has delegations.
    case $program in
    posix) tests=^mmap,munmap ;;
    alloc) tests=^alloc06,dealloc06 ;;
    xattr) tests=^dgetxattr,dsetxattr,dremovexattr,dlistxattr,cinfo ;;
    *) tests=all ;;
    esac
    code=0 log="$WORK/log/nfstest/$program"
    (cd /run/nfstest && PYTHONPATH=$suite PYTHONDONTWRITEBYTECODE=1 timeout 1500 /usr/bin/python3 "$suite/test/nfstest_$program" \
        --server "$server" --export "${MOUNT_SOURCE#*:}" --nfsversion 4.2 --mtpoint /mnt/n --interface "$interface" \
        --tcpdump /run/tcpdump --rmtraces --tbsize 4k --tmpdir /run/nfstest --runtest "$tests") >"$log.txt" 2>&1 || code=$?
    ran=$(grep -E '^[0-9]+ tests' "$log.txt") || fail "$program ended with $code: $(tail -n 1 "$log.txt")"
    note "$program: $ran"
    failed="$failed$(sed -n "s/^ *FAIL: /$program: /p" "$log.txt" | sort -u)
"
    umount /mnt/n 2>/dev/null || :
done
# O_CREAT, O_EXCL and O_DIRECTORY together are EINVAL to the client's kernel, and the server is not asked. That there is no data behind an
# offset is no error to RFC 7862 15.11.3.
accepted=""
has() { case " $programs " in *" $1 "*) ;; *) return 1 ;; esac; }
if has posix; then
    accepted="posix: open - opening existent file should return an error when O_EXCL|O_CREAT is used (256 passed, 256 failed)
posix: open - opening symbolic link should return an error when O_EXCL|O_CREAT is used (256 passed, 256 failed)
"
fi
if has sparse; then
    for where in "fail with NFS4ERR_NXIO using SEEK_DATA when offset is in the middle of last hole (locking file)" \
        "fail with NFS4ERR_NXIO using SEEK_DATA when offset is in the middle of last hole" "return NFS4ERR_NXIO"; do
        accepted="${accepted}sparse: SEEK should $where, expecting NFS4ERR_NXIO but got NFS4_OK
"
    done
fi
[ "$(echo "$failed" | sed '/^$/d')" = "$(echo "$accepted" | sed '/^$/d')" ] || fail "failed are '$failed', accepted is '$accepted'"
