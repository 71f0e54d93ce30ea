# Two guests, and processes of the host, contend for files: by fcntl, by flock, and with sqlite. There are never two holders, and
# nobody's work is lost. The host knows nothing of the guests' flock.
. "$WORK/scripts/lib.sh"
# Clients are known by the names of their hosts.
hostname "guest-$GUEST_NUMBER"
case $MOUNT_OPTIONS in vers=3*) start_statd ;; esac
mount_export

# together NAME: waits until the other guest is here too.
together() {
    : >"$SHARED/here-$1-$GUEST_NUMBER"
    until [ -e "$SHARED/here-$1-$((3 - GUEST_NUMBER))" ]; do sleep 0.02; done
}

# beside SCRIPT: the host runs it while we go on; the first guest asks, and hears how it ended.
beside() {
    [ "$GUEST_NUMBER" = 1 ] || return 0
    rm -f "$SHARED/beside.code"
    on_host "(code=0; sh -c '$1' || code=\$?; echo \$code >'$SHARED/beside.new'; mv '$SHARED/beside.new' '$SHARED/beside.code') &"
}
beside_ended() {
    [ "$GUEST_NUMBER" = 1 ] || return 0
    until [ -s "$SHARED/beside.code" ]; do sleep 0.02; done
    equal "$(cat "$SHARED/beside.code")" 0 "what the host did"
}

if [ "$GUEST_NUMBER" = 1 ]; then
    for file in by-fcntl by-flock; do : >"/mnt/n/$file"; done
fi
began=$(cut -d' ' -f1 /proc/uptime)
together start
beside "perl $SHARED/scripts/contend.pl fcntl $EXPORT_DIRECTORY/by-fcntl $SHARED/holder-fcntl $ROUNDS"
perl "$WORK/scripts/contend.pl" fcntl /mnt/n/by-fcntl "$SHARED/holder-fcntl" "$ROUNDS"
beside_ended
together fcntl
equal "$(cat /mnt/n/by-fcntl)" $((3 * ROUNDS)) "what was counted under fcntl"
perl "$WORK/scripts/contend.pl" flock /mnt/n/by-flock "$SHARED/holder-flock" "$ROUNDS"
together flock
equal "$(cat /mnt/n/by-flock)" $((2 * ROUNDS)) "what was counted under flock"

# With a rollback journal all transactions are of one process. A write-ahead log needs memory that hosts cannot share, or a process that has
# the database alone: each transaction is one's, and one that meets another ends, for both would wait for each other, and is tried again.
cat >"$WORK/delete.sh" <<'S'
for round in $(seq "$2"); do echo 'BEGIN IMMEDIATE; UPDATE t SET n = n + 1; COMMIT;'; done | sqlite3 -bail -cmd '.timeout 60000' "$1"
S
cat >"$WORK/wal.sh" <<'S'
for round in $(seq "$2"); do
    until sqlite3 -bail -cmd 'PRAGMA locking_mode = exclusive' "$1" 'BEGIN IMMEDIATE; UPDATE t SET n = n + 1; COMMIT;' 2>&1; do sleep 0.01; done
done
S
if command -v sqlite3 >/dev/null; then
    for mode in delete wal; do
        database=/mnt/n/$mode.db
        if [ "$GUEST_NUMBER" = 1 ]; then
            sqlite3 -cmd 'PRAGMA locking_mode = exclusive' "$database" "PRAGMA journal_mode = $mode; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0);"
        fi
        together "$mode"
        beside "sh $SHARED/$mode.sh $EXPORT_DIRECTORY/$mode.db $TRANSACTIONS >$SHARED/log/beside-$mode.txt"
        sh "$WORK/$mode.sh" "$database" "$TRANSACTIONS" >"$WORK/log/sqlite-$mode.txt"
        beside_ended
        together "$mode-done"
        if [ "$GUEST_NUMBER" = 1 ]; then
            result=$(sqlite3 -cmd 'PRAGMA locking_mode = exclusive' "$database" 'SELECT n FROM t; PRAGMA integrity_check;' | tr '\n' ' ')
            equal "$result" "exclusive $((3 * TRANSACTIONS)) ok " "transactions with journal_mode = $mode"
        fi
    done
else
    note "no sqlite3 here"
fi
note "took $(awk "BEGIN { print $(cut -d' ' -f1 /proc/uptime) - $began }") s"
umount /mnt/n
