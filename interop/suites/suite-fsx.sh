# fsx on the directory MOUNTED for DURATION seconds: random reads, writes, mapped ones and changes of size, each read compared with what was
# written. FSX_OPTIONS: further options of fsx, such as calls that the mount does not have.
fsx=$SUITES/xfstests/ltp/fsx
[ -x "$fsx" ] || skip "no fsx in '$SUITES/xfstests/ltp'; see --suites"
"$fsx" ${FSX_OPTIONS:-} -S $((SEED % 1000000 + 1)) -P "$WORK/log" -l 1000000 -o 131072 -c 1000 --duration="$DURATION" "$MOUNTED/fsx" >"$WORK/log/fsx.txt" 2>&1 ||
    fail "fsx: $(tail -n 2 "$WORK/log/fsx.txt" | tr '\n' ' ')"
note "$(grep -i 'operations completed' "$WORK/log/fsx.txt" | tail -n 1)"
expect_on_server fsx
