# nfs-conformance (loghyr): system calls on a mount, a program for each subject. With KERNEL=1 the guest's own kernel serves, to compare.
. "$WORK/scripts/lib.sh"
suite=$SUITES/nfs-conformance
[ -x "$suite/op_lock" ] || skip "no nfs-conformance in '$suite'; see --suites"
[ "$KERNEL" = 0 ] || . "$WORK/scripts/kernel-beside.sh"
mount_export
mkdir -m 1777 /mnt/n/conformance
passed=0 skipped=0 failed=""
for program in "$suite"/op_*; do
    case $program in *.*) continue ;; esac
    name=${program##*/} code=0
    timeout 120 "$program" -d /mnt/n/conformance >"$WORK/log/$name.txt" 2>&1 || code=$?
    case $code in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) && note "$name skipped: $(grep -im1 skip "$WORK/log/$name.txt")" ;;
    *) failed="$failed $name" && grep -h FAIL "$WORK/log/$name.txt" || : ;;
    esac
done
note "$passed passed, $skipped skipped"
[ -z "$failed" ] || fail "$failed"
umount /mnt/n
