# git, sqlite, tar and fio on the directory MOUNTED, each of which checks what it reads. What uses this says what `drop_caches` does.
for tool in git sqlite3 fio; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
export HOME=/run
# The guest has no other place where sqlite may have the files that it sorts by.
export SQLITE_TMPDIR="$MOUNTED"
# What it tidies up in the background would keep the mount in use.
git config --global gc.auto 0

mkdir "$MOUNTED/tree"
tar -xpf "$WORK/tree.tar" -C "$MOUNTED/tree"
drop_caches
diff -r --no-dereference "$WORK/tree" "$MOUNTED/tree"

git init -q "$MOUNTED/repository"
cp -r "$MOUNTED/tree" "$MOUNTED/repository/files"
git -C "$MOUNTED/repository" add -A
git -C "$MOUNTED/repository" -c user.name=interop -c user.email=interop@localhost commit -q -m "all files"
git clone -q --no-local "$MOUNTED/repository" "$MOUNTED/clone"
git -C "$MOUNTED/clone" gc -q
git -C "$MOUNTED/clone" fsck --full --strict
drop_caches
equal "$(git -C "$MOUNTED/clone" status --short)" "" "what git sees changed"
diff -r --no-dereference -x .git "$MOUNTED/repository" "$MOUNTED/clone"

for journal in delete truncate persist; do
    sqlite3 "$MOUNTED/$journal.db" >/dev/null <<SQL
PRAGMA journal_mode = $journal;
CREATE TABLE row (number INTEGER PRIMARY KEY, text TEXT);
WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < $ROWS)
    INSERT INTO row SELECT n, hex(randomblob(50)) FROM count;
BEGIN;
UPDATE row SET text = 'rolled back';
ROLLBACK;
CREATE INDEX by_text ON row(text);
DELETE FROM row WHERE number % 4 = 0;
VACUUM;
SQL
    drop_caches
    found=$(sqlite3 "$MOUNTED/$journal.db" "PRAGMA integrity_check; SELECT count(*) FROM row; SELECT count(*) FROM row WHERE text = 'rolled back';")
    equal "$(echo $found)" "ok $((ROWS - ROWS / 4)) 0" "what sqlite finds with journal_mode = $journal"
done

fio --name=verify --directory="$MOUNTED" --size="$SIZE" --rw=randwrite --bsrange=1k-256k --ioengine=psync --end_fsync=1 \
    --verify=crc32c --verify_fatal=1 --verify_state_save=0 --randseed="$SEED" --output-format=terse >/dev/null
expect_on_server delete.db truncate.db persist.db
