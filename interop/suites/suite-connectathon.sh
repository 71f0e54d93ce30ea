# Connectathon's suites (cthon04) of the letters PARTS on the directory MOUNTED, each by itself, so that one that fails hides no other.
suite=$SUITES/cthon04
[ -x "$suite/lock/tlocklfs" ] || skip "no Connectathon in '$suite'; see --suites"
failed=""
for part in $PARTS; do
    start=$(seconds)
    if (cd "$suite" && MNTOPTIONS=${MOUNT_OPTIONS:-} sh ./runtests "-$part" -f "$MOUNTED/connectathon-$part") >"$WORK/log/connectathon-$part.txt" 2>&1; then
        note "-$part passed in $(($(seconds) - start)) s"
    else
        failed="$failed -$part: $(tail -n 2 "$WORK/log/connectathon-$part.txt" | tr '\n' ' ')"
    fi
done
[ -z "$failed" ] || fail "$failed"
