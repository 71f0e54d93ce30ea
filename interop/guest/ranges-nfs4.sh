# What NFSv4.2 adds: copies that the server makes, space reserved and given back, holes found, and extended attributes.
. "$WORK/scripts/lib.sh"
mount_export
cd /mnt/n

# calls NAMES: how often the client has made one of these calls.
calls() { awk -v names=" $1 " '/^\t *[A-Z_]+: / && index(names, " " substr($1, 1, length($1) - 1) " ") { all += $2 } END { print all + 0 }' /proc/self/mountstats; }

# made NAMES COMMAND…: the command must make one of these calls.
made() {
    name=$1
    before=$(calls "$name")
    shift
    "$@"
    [ "$(calls "$name")" -gt "$before" ] || fail "no $name was called: $*"
}

dd if=/dev/urandom of=large bs=1M count="$((SIZE / 1048576))" status=none
# A clone where the storage shares blocks, else a copy that the server makes.
made "CLONE COPY" cp --reflink=auto large copy
drop_caches
reads=$(calls READ)
cmp large copy
[ "$(calls READ)" -gt "$reads" ] || fail "the copy was not read from the server"
note "$(calls COPY) COPY calls for $SIZE bytes"
if cp --reflink=always large clone 2>refusal; then
    drop_caches
    cmp large clone
    note "the storage clones"
else
    grep -q "not supported" refusal || fail "cp --reflink=always: $(cat refusal)"
fi
rm -f clone refusal

made ALLOCATE fallocate -l 8M reserved
drop_caches
equal "$(stat -c %s reserved)" 8388608 "size of reserved space"
[ "$(stat -c %b reserved)" -ge 16000 ] || fail "8 MiB reserved take $(stat -c %b reserved) blocks"
equal "$(tr -d '\0' <reserved | wc -c)" 0 "bytes in it that are not zero"

dd if=/dev/urandom of=holes bs=1M count=8 status=none
sync holes
cp holes whole
made DEALLOCATE fallocate -p -o 1M -l 2M holes
drop_caches
equal "$(stat -c %s holes)" 8388608 "size of a file with a hole"
[ "$(stat -c %b holes)" -le 12400 ] || fail "6 MiB and a hole take $(stat -c %b holes) blocks"
cmp -n 1048576 holes whole
cmp -i 3145728 holes whole
equal "$(dd if=holes bs=1M skip=1 count=2 status=none | tr -d '\0' | wc -c)" 0 "bytes in the hole that are not zero"

# seek KIND OFFSET: where the next data (3) or hole (4) begins.
seek() { perl -e 'open(F, "<", $ARGV[0]) or die; my $at = sysseek(F, $ARGV[2], $ARGV[1]); print $at ? $at + 0 : "none: $!"' "$1" "$2" "$3"; }
drop_caches
made SEEK seek holes 3 1048576
equal "$(seek holes 4 0)" 1048576 "where the hole begins"
equal "$(seek holes 3 1048576)" 3145728 "where data goes on"
equal "$(seek holes 4 3145728)" 8388608 "the hole at the end"
equal "$(seek holes 3 8388608)" "none: No such device or address" "data behind the end"
cp --sparse=always holes sparse
cmp holes sparse
expect_on_server large copy holes sparse reserved

command -v setfattr >/dev/null || skip "no setfattr here"
mkdir directory
for node in holes directory; do
    made SETXATTR setfattr -n user.first -v "a value" $node
    setfattr -n user.empty $node
    setfattr -n user.binary -v 0x00ff0a $node
    drop_caches
    equal "$(getfattr --only-values -n user.first $node)" "a value" "value"
    equal "$(getfattr --only-values -n user.binary $node | od -An -tx1 | tr -d ' ')" 00ff0a "bytes"
    equal "$(getfattr -d $node | grep -c =)" 3 "values"
    equal "$(getfattr $node | grep -c '^user\.')" 3 "names"
    setfattr -n user.first -v "another one" $node
    drop_caches
    equal "$(getfattr --only-values -n user.first $node)" "another one" "value when set again"
    setfattr -x user.first $node
    refused "No such attribute" getfattr -n user.first $node
    refused "No such attribute" setfattr -x user.first $node
done
for number in $(seq 40); do setfattr -n "user.number-$number" -v "$number" holes; done
drop_caches
equal "$(getfattr holes | grep -c '^user\.number-')" 40 "names of many"
on_host "setfattr -n user.by-the-host -v seen '$EXPORT_DIRECTORY/holes'" || fail "the host cannot set one"
drop_caches
equal "$(getfattr --only-values -n user.by-the-host holes)" seen "what the host set"
on_host "test \"\$(getfattr --only-values -n user.number-7 '$EXPORT_DIRECTORY/holes')\" = 7" || fail "the host does not see what was set"
refused "not supported" setfattr -n trusted.x -v y holes
# cp -a takes them along.
cp -a holes again
equal "$(getfattr --only-values -n user.number-7 again)" 7 "value of a copy"
cd /
umount /mnt/n
