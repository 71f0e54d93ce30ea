# Programs through howdah's caches on another howdah's export, each of which checks what it reads: git, sqlite, tar and fio.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
for tool in git sqlite3 fio; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
relay "nfs://127.0.0.1:2049/"
mount_export
export HOME=/run

mkdir /mnt/n/tree
tar -xpf "$WORK/tree.tar" -C /mnt/n/tree
drop_caches
diff -r --no-dereference "$WORK/tree" /mnt/n/tree

git init -q /mnt/n/repository
cp -r /mnt/n/tree /mnt/n/repository/files
cd /mnt/n/repository
git add -A
git -c user.name=interop -c user.email=interop@localhost commit -q -m "all files"
git clone -q --no-local /mnt/n/repository /mnt/n/clone
cd /mnt/n/clone
git gc -q
git fsck --full --strict
drop_caches
equal "$(git status --short)" "" "what git sees changed"
diff -r --no-dereference -x .git /mnt/n/repository /mnt/n/clone

cd /mnt/n
for journal in delete truncate persist; do
    sqlite3 "$journal.db" >/dev/null <<SQL
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
    found=$(sqlite3 "$journal.db" "PRAGMA integrity_check; SELECT count(*) FROM row; SELECT count(*) FROM row WHERE text = 'rolled back';")
    equal "$(echo $found)" "ok $((ROWS - ROWS / 4)) 0" "what sqlite finds with journal_mode = $journal"
done

fio --name=verify --directory=/mnt/n --size="$SIZE" --rw=randwrite --bsrange=1k-256k --ioengine=psync --end_fsync=1 \
    --verify=crc32c --verify_fatal=1 --randseed="$SEED" --output-format=terse >/dev/null
expect_on_server delete.db truncate.db persist.db
