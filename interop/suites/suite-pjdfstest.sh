# pjdfstest on the directory MOUNTED: POSIX as file systems have it, by name and by user. SHARES: how many shares its files are divided
# into, of which SHARE runs. ACCEPTED: lines of a file and the numbers of its tests that must fail; what uses this says why.
suite=$SUITES/pjdfstest
[ -x "$suite/pjdfstest" ] || skip "no pjdfstest in '$suite'; see --suites"
log=$WORK/log/pjdfstest.txt
files=$(cd "$suite/tests" && find . -name '*.t' | sed 's,^\./,,' | sort | awk -v shares="$SHARES" -v share="$SHARE" 'NR % shares == share')
accepted=$(printf '%s\n' "$ACCEPTED" | while read -r file tests; do
    for chosen in $files; do [ "$chosen" != "$file" ] || echo "$file $tests"; done
done)
mkdir -m 755 "$MOUNTED/pjdfstest"
cd "$MOUNTED/pjdfstest"
code=0
prove -f $(printf "$suite/tests/%s\n" $files) >"$log" 2>&1 || code=$?
cd /
note "$(grep '^Files=' "$log"), $(grep -c 'Failed test' "$log") files with failures"
sed -n '/^Test Summary Report/,$p' "$log"
# Numbers of tests may go on in further lines.
failed=$(awk '/^ +[0-9]/ && more { sub(/^ */, ""); found[file] = found[file] ", " $0; next }
    { more = 0 }
    /\(Wstat:/ { n = split($1, path, "/"); file = path[n - 1] "/" path[n] }
    /Failed tests?:/ { sub(/.*: */, ""); found[file] = $0; more = 1 }
    /Parse errors/ { found[file] = "parse errors" }
    END { for (file in found) print file, found[file] }' "$log" | sort)
[ "$code" = 0 ] || [ -n "$failed" ] || fail "it ended with $code"
[ "$failed" = "$accepted" ] || fail "failed are '$failed', accepted is '$accepted'"
