# What programs do over 4.2 is recorded by `howdah capture` on the host, and `howdah bench --replay` plays it against howdah: each call that
# has a procedure of NFSv3 must end as it did, and move as many bytes.
. "$WORK/scripts/lib.sh"
mount_export
mkdir /mnt/n/before
seq 100000 >/mnt/n/before/numbers
for number in $(seq 40); do echo "$number" >"/mnt/n/before/$number"; done
remount
on_host "
    \"$HOWDAH\" capture calls.jsonl --state state --time 10m >capture.txt 2>&1 &
    echo \$! >capture.pid
    for try in \$(seq 300); do
        ! grep -q 'recording the calls' capture.txt || exit 0
        sleep 0.1
    done
    exit 1
" || fail "no capture: $(cat "$WORK/capture.txt")"
cd /mnt/n
cmp before/numbers before/numbers
ls -lR before >/dev/null
mkdir work
for number in $(seq 60); do seq "$number" >"work/$number"; done
dd if=/dev/urandom of=work/large bs=64k count=100 conv=fsync status=none
drop_caches
cmp work/large work/large
cat work/large before/* >/dev/null
truncate -s 100000 work/large
cp -r before work/copied
ln work/1 work/second
ln -s 1 work/link
readlink work/link >/dev/null
mv work/2 work/moved
mv work/copied copied
flock work/3 -c true
[ ! -e work/nothing ]
rm -r copied work/4 work/link
mkfifo work/pipe
chmod 600 work/5
find . -name '1*' >/dev/null
cd /
umount /mnt/n
end_on_host INT "$WORK/capture.pid"
on_host "
    \"$HOWDAH\" bench 'nfs://$SERVER_ADDRESS/?nfsport=$PORT&mountport=$PORT' --non-empty --replay calls.jsonl --speed max --json - \
        --progress never >replay.json
" || fail "the record is not played: $(tail -n 3 "$WORK/log/errands.txt")"
# sum FIELD: of all procedures of the play.
sum() { tr ',{}' '\n\n\n' <"$WORK/replay.json" | awk -F: -v field="\"$1\"" '$1 ~ field "$" { all += $2 } END { print all + 0 }'; }
calls=$(grep -c '"procedure"' "$WORK/calls.jsonl")
skipped=$(sum skipped)
note "$calls calls recorded, $skipped of them not played"
equal "$(sum recorded_calls)" "$((calls * 2))" "calls in the report, in all and by procedure"
equal "$(sum otherwise)" 0 "calls that ended otherwise: $(tr ',{}' '\n\n\n' <"$WORK/replay.json" | grep first_otherwise)"
# CLOSE is most of what no file system has.
never=$(grep -cE '"procedure":"(CLOSE|EXCHANGE_ID|CREATE_SESSION|DESTROY_SESSION|DESTROY_CLIENTID|RECLAIM_COMPLETE|SEQUENCE|SECINFO_NO_NAME|LOCKU?|TEST_STATEID|FREE_STATEID|OPEN_DOWNGRADE|NULL|PUTROOTFH|COPY|CLONE)"' "$WORK/calls.jsonl")
[ "$skipped" -le "$((never + 4))" ] || fail "$skipped calls are not played, of $never that have no procedure of NFSv3"
