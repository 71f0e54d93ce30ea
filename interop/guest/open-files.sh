# Files renamed, replaced and removed while they are open go on to work (the client's silly rename, our handles).
. "$WORK/scripts/lib.sh"
mount_export
cd /mnt/n

echo one >a
exec 3<>a
mv a b
echo two >&3
drop_caches
equal "$(cat b)" two "a renamed open file takes the write"

mkdir d
mv b d/c
exec 4<d/c
equal "$(cat <&4)" two "a file moved to another directory reads on"
exec 4<&-

rm d/c
echo three >&3
ls -a d | grep -q '^\.nfs' || fail "no silly rename in: $(ls -a d)"
equal "$(cat /proc/self/fd/3 | tail -1)" three "a removed open file reads on"
exec 3>&-
equal "$(ls -A d)" "" "the silly name goes when the file is closed"
rmdir d

# Another client's view: removed behind this client's back is stale, not somebody else's file.
echo four >e
exec 5<e
cat <&5 >/dev/null
tell_host remove-e
while [ -e "$EXPORT_DIRECTORY/e" ]; do :; done
drop_caches
if cat /proc/self/fd/5 2>/dev/null; then fail "reading a file that another client removed"; fi
exec 5<&-

echo new >f
echo old >g
exec 6<g
mv f g
equal "$(cat g)" new "the replacing file has the name"
equal "$(cat <&6)" old "the replaced open file reads on"
exec 6<&-
refused "File exists" mkdir g
refused "Not a directory" ls g/x
refused "No such file" cat nothing
mkdir h
mkdir h/i
refused "Directory not empty" rmdir h
refused "subdirectory of itself" mv h h/i/j
cd /
