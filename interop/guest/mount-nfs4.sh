# A mount that says nothing gets version 4.2, without a question to rpcbind; one that asks for 4.1 gets it, and 4.0 is refused.
. "$WORK/scripts/lib.sh"
start=$(seconds)
mount -v -t nfs "$MOUNT_SOURCE" /mnt/n >>"$WORK/log/mount.txt"
grep ' /mnt/n nfs4 ' /proc/mounts | grep -q 'vers=4.2' || fail "not a version 4.2 mount: $(grep ' /mnt/n ' /proc/mounts)"
[ $(($(seconds) - start)) -lt 5 ] || fail "it took $(($(seconds) - start)) s"
echo "howdah" >/mnt/n/hello
drop_caches
equal "$(cat /mnt/n/hello)" howdah "contents"
umount /mnt/n
mount -t nfs -o vers=4.1 "$MOUNT_SOURCE" /mnt/n
grep ' /mnt/n nfs4 ' /proc/mounts | grep -q 'vers=4.1' || fail "not a version 4.1 mount"
equal "$(cat /mnt/n/hello)" howdah "contents after another mount"
mkdir /mnt/n/directory
mv /mnt/n/hello /mnt/n/directory/renamed
equal "$(ls -R /mnt/n | tr '\n' ' ')" "/mnt/n: directory  /mnt/n/directory: renamed " "the tree"
expect_on_server directory/renamed
start=$(seconds)
umount /mnt/n
# A client whose state was not let go is asked for a second time, a second later.
[ $(($(seconds) - start)) -lt 3 ] || fail "umount took $(($(seconds) - start)) s"
refused "Protocol not supported" mount -t nfs -o vers=4.0 "$MOUNT_SOURCE" /mnt/n
