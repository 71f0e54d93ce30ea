# A tree of many small files, links and directories: unpacked, equal, seen equal by a fresh mount, removed.
. "$WORK/scripts/lib.sh"
mount_export
mkdir /mnt/n/tree
start=$(seconds)
tar -xpf "$WORK/tree.tar" -C /mnt/n/tree
sync
note "unpacked $(tar -tf "$WORK/tree.tar" | wc -l) entries in $(($(seconds) - start)) s"
drop_caches
start=$(seconds)
# Contents, sizes, modes, owners, times and links, each against the archive.
tar --compare -f "$WORK/tree.tar" -C /mnt/n/tree
note "compared in $(($(seconds) - start)) s"
remount
diff -r --no-dereference "$WORK/tree" /mnt/n/tree
equal "$(find /mnt/n/tree | wc -l)" "$(find "$WORK/tree" | wc -l)" "number of entries"
cp -a /mnt/n/tree /mnt/n/copy
diff -r --no-dereference /mnt/n/tree /mnt/n/copy
rm -r /mnt/n/copy
[ ! -e /mnt/n/copy ] || fail "the copy is still there"
