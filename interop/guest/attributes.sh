# What a file can be besides its bytes: modes, times, links, special files, holes, long and odd names, the space left.
. "$WORK/scripts/lib.sh"
mount_export
cd /mnt/n

touch file
for mode in 000 644 755 1777; do
    chmod "$mode" file
    drop_caches
    equal "$(stat -c %a file)" "${mode#00}" "mode"
done
# By default no set-id bit is kept: on the server's host the program would run as another user.
for mode in 4711 2755; do
    chmod "$mode" file
    drop_caches
    equal "$(stat -c %a file)" "${mode#?}" "mode without set-id"
done
chmod 644 file
touch -d '2001-02-03 04:05:06.123456789 UTC' file
drop_caches
equal "$(TZ=UTC stat -c %y file)" "2001-02-03 04:05:06.123456789 +0000" "modification time to the nanosecond"
touch -a -d '1999-12-31 23:59:59 UTC' file
equal "$(stat -c %X file)" 946684799 "access time"
touch -d '2038-01-20 00:00:00 UTC' file
equal "$(stat -c %Y file)" 2147558400 "a time past 2^31"
before=$(stat -c %Z file)
touch file
[ "$(stat -c %Z file)" -ge "$before" ] || fail "the change time went back"

ln file link
equal "$(stat -c %h file)" 2 "links"
equal "$(stat -c %i file)" "$(stat -c %i link)" "file number of both names"
rm file
equal "$(stat -c %h link)" 1 "links after one name went"

ln -s "a target that is nowhere" symlink
equal "$(readlink symlink)" "a target that is nowhere" "target"
refused "No such file" cat symlink
ln -s link goes
cat goes

mkfifo fifo
equal "$(stat -c %F fifo)" fifo "kind"
(echo through >fifo &)
equal "$(cat fifo)" through "what comes out of the fifo"
if [ "$PRIVILEGED" = yes ]; then
    mknod null c 1 3
    equal "$(stat -c %t,%T null)" 1,3 "device numbers"
    chown 1000:2000 link
    drop_caches
    equal "$(stat -c %u:%g link)" 1000:2000 "owner"
fi

truncate -s 5G sparse
equal "$(stat -c %s sparse)" 5368709120 "size of a sparse file"
[ "$(stat -c %b sparse)" -lt 1000 ] || fail "a sparse file takes $(stat -c %b sparse) blocks"
printf end | dd of=sparse bs=1 seek=5368709117 conv=notrunc status=none
drop_caches
equal "$(tail -c 3 sparse)" end "bytes past 4 GiB"
equal "$(dd if=sparse bs=1M count=1 status=none | tr -d '\0' | wc -c)" 0 "a hole reads as zeros"
truncate -s 10 sparse
equal "$(stat -c %s sparse)" 10 "size after cutting"
rm sparse

if command -v setfattr >/dev/null; then
    case $MOUNT_OPTIONS in
    *vers=4.2*) setfattr -n user.x -v y link ;;
    *) refused "not supported" setfattr -n user.x -v y link ;;
    esac
fi

long=$(printf '%0255d' 7)
touch "$long"
[ -e "$long" ] || fail "a name of 255 bytes"
refused "File name too long" touch "x$long"
odd=$(printf 'odd \001\377\\n name')
echo odd >"$odd"
drop_caches
equal "$(cat "$odd")" odd "a file with odd bytes in its name"
ls | grep -q odd || fail "the odd name is not listed"
mkdir -p "deep/a/b/c/d/e/f/g/h"
equal "$(find deep | wc -l)" 9 "directories, each in the other"

# The figures are the server's own file system's.
equal "$(stat -f -c %S:%b /mnt/n | awk -F: '{ print int($1 * $2 / 1e9) }')" \
    "$(stat -f -c %S:%b "$EXPORT_DIRECTORY" | awk -F: '{ print int($1 * $2 / 1e9) }')" "size in df, in GB"
df -h /mnt/n
df -i /mnt/n
cd /
