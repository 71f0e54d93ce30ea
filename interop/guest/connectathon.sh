# Connectathon's suites (cthon04), each by itself, so that one that fails hides no other.
. "$WORK/scripts/lib.sh"
suite=$SUITES/cthon04
[ -x "$suite/lock/tlocklfs" ] || skip "no Connectathon in '$suite'; see --suites"
case $MOUNT_OPTIONS in vers=3*) start_statd ;; esac
mount_export
failed=""
for part in b g s l; do
    start=$(seconds)
    if (cd "$suite" && MNTOPTIONS=$MOUNT_OPTIONS sh ./runtests "-$part" -f "/mnt/n/connectathon-$part") >"$WORK/log/connectathon-$part.txt" 2>&1; then
        note "-$part passed in $(($(seconds) - start)) s"
    else
        failed="$failed -$part: $(tail -n 2 "$WORK/log/connectathon-$part.txt" | tr '\n' ' ')"
    fi
done
[ -z "$failed" ] || fail "$failed"
umount /mnt/n
