# A large file written, read back from the server, equal. SIZE bytes.
. "$WORK/scripts/lib.sh"
mount_export
start=$(seconds)
want=$("$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | tee /mnt/n/large | sha256sum)
sync
note "wrote $((SIZE >> 20)) MiB in $(($(seconds) - start)) s"
drop_caches
start=$(seconds)
equal "$(sha256sum </mnt/n/large)" "$want" "checksum of what was read back"
note "read it in $(($(seconds) - start)) s"
equal "$(stat -c %s /mnt/n/large)" "$SIZE" "size"
remount
equal "$(sha256sum </mnt/n/large)" "$want" "checksum after another mount"
expect_on_server large
