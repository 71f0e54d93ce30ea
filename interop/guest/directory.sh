# A directory of many entries: every name once, in plain and in sorted order, then all of them removed.
. "$WORK/scripts/lib.sh"
mount_export
start=$(seconds)
equal "$(ls -f /mnt/n/many | grep -vc '^\.')" "$ENTRIES" "names by ls -f"
note "ls -f of $ENTRIES in $(($(seconds) - start)) s"
drop_caches
start=$(seconds)
equal "$(ls -l /mnt/n/many | grep -c '^-')" "$ENTRIES" "names by ls -l"
note "ls -l in $(($(seconds) - start)) s"
equal "$(ls /mnt/n/many | sort -u | wc -l)" "$ENTRIES" "different names"
echo more >/mnt/n/many/zzz
equal "$(ls /mnt/n/many | wc -l)" "$((ENTRIES + 1))" "names after one more"
start=$(seconds)
rm -r /mnt/n/many
note "rm -r in $(($(seconds) - start)) s"
[ ! -e /mnt/n/many ] || fail "the directory is still there"
