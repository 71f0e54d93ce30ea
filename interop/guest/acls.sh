# POSIX ACLs by setfacl and getfacl: what is set is shown, handed down and obeyed. Needs a server that may act as users (root), no squash.
. "$WORK/scripts/lib.sh"
command -v setfacl >/dev/null || skip "there is no setfacl here (package acl)"
mount_export
cd /mnt/n
chmod 755 .

# shown FILE [OPTION…]: the entries in one line, with numbers.
shown() { getfacl -cnpE "$@" | tr '\n' ' ' | sed 's/ *$//'; }

# A mode alone.
touch file
chown 1000:2000 file
chmod 640 file
equal "$(shown file)" "user::rw- group::r-- other::---" "the ACL of a mode"

# Set, shown, and on the server as it was set.
setfacl -m u:1001:rwx,g:2001:r,m::rw file
drop_caches
want="user::rw- user:1001:rwx group::r-- group:2001:r-- mask::rw- other::---"
equal "$(shown file)" "$want" "an ACL with names and a mask"
equal "$(stat -c %a file)" 660 "the mode shows the mask"
on_host "getfacl -cnpE '$WORK/export/file' >'$WORK/acl.txt'" || fail "getfacl on the host"
equal "$(tr '\n' ' ' <"$WORK/acl.txt" | sed 's/ *$//')" "$want" "the ACL on the server"
# chmod moves the mask, and the entries stay.
chmod 640 file
equal "$(shown file)" "user::rw- user:1001:rwx group::r-- group:2001:r-- mask::r-- other::---" "the ACL after chmod"
chmod 660 file

# Access decisions: the mask limits, a named user needs no group, others get nothing.
echo text >file
as 1001 sh -c 'echo more >>file'
refused "Permission denied" as 1002 sh -c 'echo more >>file'
as 1002 cat file
refused "Permission denied" as 1003 cat file
setfacl -m m::r file
drop_caches
refused "Permission denied" as 1001 sh -c 'echo more >>file'
as 1001 cat file
# Local changes on the server are seen.
on_host "setfacl -m u:1003:r '$WORK/export/file'" || fail "setfacl on the host"
drop_caches
as 1003 cat file

# Only the owner sets one.
refused "Operation not permitted" as 1001 setfacl -m u:1004:r file
as 1000 setfacl -x u:1001 file
setfacl -b file
equal "$(shown file)" "user::rw- group::r-- other::---" "the ACL after all was removed"
refused "Permission denied" as 1003 cat file

# Defaults are handed down, whatever the umask of the maker is.
mkdir team
chmod 777 team
setfacl -d -m u::rwx,u:1001:rwx,g::r-x,m::rwx,o::- team
drop_caches
want="user::rwx user:1001:rwx group::r-x mask::rwx other::---"
equal "$(shown -d team)" "$want" "a default ACL"
equal "$(shown -a team)" "user::rwx group::rwx other::rwx" "the access ACL beside it"
as 1000 sh -c 'umask 077; touch team/file; mkdir team/directory; echo text >team/text'
drop_caches
equal "$(shown team/file)" "user::rw- user:1001:rwx group::r-x mask::rw- other::---" "the ACL of a new file"
equal "$(shown -a team/directory)" "$want" "the ACL of a new directory"
equal "$(shown -d team/directory)" "$want" "the default ACL of a new directory"
as 1001 sh -c 'echo more >>team/text'
refused "Permission denied" as 1003 cat team/text
# Where there is none, the umask holds.
setfacl -k team
as 1000 sh -c 'umask 077; touch team/other'
equal "$(stat -c %a team/other)" 600 "the mode of a new file without a default ACL"
equal "$(shown -d team)" "" "the default ACL after it was removed"

# A hundred names; a restore of what was saved; a copy with everything.
for user in $(seq 3000 3099); do echo "u:$user:r-x"; done | setfacl -M - file
drop_caches
equal "$(shown file | tr ' ' '\n' | grep -c '^user:3')" 100 "named users"
getfacl -npR file team >"$WORK/saved.txt"
setfacl -bR file team
setfacl --restore="$WORK/saved.txt"
drop_caches
equal "$(getfacl -npR file team | sha256sum)" "$(sha256sum <"$WORK/saved.txt")" "restored ACLs"
cp -p file copy
equal "$(shown copy)" "$(shown file)" "the ACL of a copy"
cd /

# A mount without them.
umount /mnt/n
mount_export "$MOUNT_OPTIONS,noacl"
refused "not supported" setfacl -m u:1001:r /mnt/n/file
equal "$(stat -c %a /mnt/n/file)" 650 "the mode of a file with an ACL"
