# The host kills the server in the middle of this write, and starts it again. The client must not notice.
. "$WORK/scripts/lib.sh"
mount_export
want=$("$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | dd of=/mnt/n/large bs=1M iflag=fullblock conv=fsync status=none && "$TOOL" pattern --seed "$SEED" --bytes "$SIZE" | sha256sum)
drop_caches
equal "$(sha256sum </mnt/n/large)" "$want" "checksum of what was read back"
expect_on_server large
dmesg | grep -i 'not responding' && note "the client said: server not responding"
:
