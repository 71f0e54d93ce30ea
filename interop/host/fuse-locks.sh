# Programs on two mounts by FUSE over NFSv4.2, and on the host, contend for files: by fcntl, by flock, and with sqlite. There are never two
# holders, and nobody's work is lost. The host knows nothing of flock on mounts.
. "$WORK/scripts/fuse.sh"
OTHER=$WORK/other
mkdir -p "$OTHER"
for place in "$MOUNTED" "$OTHER"; do
    "$HOWDAH" mount "nfs://127.0.0.1:$PORT$EXPORT_NAME" "$place" -o vers=4.2,lock --state "$WORK/mounts"
done

# each COMMAND DIRECTORY…: with each of the directories at the same time.
each() {
    command=$1
    shift
    running=""
    for directory; do
        $command "$directory" &
        running="$running $!"
    done
    for process in $running; do wait "$process" || fail "$command"; done
}

by_fcntl() { perl "$WORK/scripts/contend.pl" fcntl "$1/by-fcntl" "$WORK/holder-fcntl" "$ROUNDS"; }
by_flock() { perl "$WORK/scripts/contend.pl" flock "$1/by-flock" "$WORK/holder-flock" "$ROUNDS"; }
by_sqlite() {
    for round in $(seq "$TRANSACTIONS"); do echo 'BEGIN IMMEDIATE; UPDATE t SET n = n + 1; COMMIT;'; done |
        sqlite3 -bail -cmd '.timeout 60000' "$1/database"
}

began=$(seconds)
for file in by-fcntl by-flock; do : >"$MOUNTED/$file"; done
each by_fcntl "$MOUNTED" "$OTHER" "$MOUNTED" "$OTHER" "$EXPORT_DIRECTORY"
equal "$(cat "$MOUNTED/by-fcntl")" $((5 * ROUNDS)) "what was counted under fcntl"
each by_flock "$MOUNTED" "$OTHER" "$MOUNTED" "$OTHER"
equal "$(cat "$OTHER/by-flock")" $((4 * ROUNDS)) "what was counted under flock"
sqlite3 "$MOUNTED/database" 'CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0);'
each by_sqlite "$MOUNTED" "$OTHER" "$EXPORT_DIRECTORY"
result=$(sqlite3 "$OTHER/database" 'SELECT n FROM t; PRAGMA integrity_check;' | tr '\n' ' ')
equal "$result" "$((3 * TRANSACTIONS)) ok " "transactions"
# A program that waits for a lock is ended by its timer, and has nothing locked then.
flock "$MOUNTED/by-flock" sh -c "! flock -w 1 '$OTHER/by-flock' true" || fail "two programs have the lock"
# A server keeps a lock that becomes free for the program that waited for it, for up to two seconds.
flock -w 10 "$MOUNTED/by-flock" true || fail "a lock stays that nobody holds"
note "took $(($(seconds) - began)) s"
"$HOWDAH" umount "$OTHER" --state "$WORK/mounts"
unmount
