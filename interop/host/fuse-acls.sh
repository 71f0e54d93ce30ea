# POSIX ACLs by setfacl and getfacl through a mount by FUSE: what is set is shown, on the server too, handed down and obeyed.
. "$WORK/scripts/fuse.sh"
NFS42=0
case ${MOUNT_URL:-} in
'') server=howdah url=nfs://127.0.0.1:$PORT$EXPORT_NAME ;;
# The Linux kernel's server, whose directory is on the disk of its guest.
*)
    server=linux
    address=${MOUNT_URL#nfs://}
    url=nfs://${address%%/*}/mnt/s
    MOUNT_URL=$url
    ;;
esac
fuse allow_other,acl
cd "$MOUNTED"

# as USER COMMAND…: as user and group of that number.
as() {
    user=$1
    shift
    setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
}
# shown FILE [OPTION…]: the entries in one line, with numbers.
shown() { getfacl -cnpE "$@" | tr '\n' ' ' | sed 's/ *$//'; }
refused() { if "$@" 2>/dev/null; then fail "allowed: $*"; fi; }

chmod 755 .
echo text >file
chown 1000:2000 file
chmod 640 file
equal "$(shown file)" "user::rw- group::r-- other::---" "the ACL of a mode"
setfacl -m u:1001:rwx,g:2001:r,m::rw file
want="user::rw- user:1001:rwx group::r-- group:2001:r-- mask::rw- other::---"
equal "$(shown file)" "$want" "an ACL with names and a mask"
if [ "$server" = howdah ]; then equal "$(shown "$EXPORT_DIRECTORY/file")" "$want" "the ACL on the server"; fi
equal "$(stat -c %a file)" 660 "the mode shows the mask"
getfattr -m - file | grep -q system.posix_acl_access || fail "the ACL is not listed"

as 1001 sh -c 'echo more >>file'
refused as 1003 cat file
setfacl -m m::r file
refused as 1001 sh -c 'echo more >>file'
as 1001 cat file
refused as 1001 setfacl -m u:1004:r file
as 1000 setfacl -b file
equal "$(shown file)" "user::rw- group::r-- other::---" "the ACL after all was removed"
refused as 1001 cat file

mkdir team
chmod 777 team
setfacl -d -m u::rwx,u:1001:rwx,g::r-x,m::rwx,o::- team
want="user::rwx user:1001:rwx group::r-x mask::rwx other::---"
equal "$(shown -d team)" "$want" "a default ACL"
equal "$(shown -a team)" "user::rwx group::rwx other::rwx" "the access ACL beside it"
setfacl -m u:1002:rwx team
equal "$(shown -d team)" "$want" "a default ACL after the access ACL was set"
as 1000 sh -c 'umask 077; touch team/file; mkdir team/directory'
equal "$(shown team/file)" "user::rw- user:1001:rwx group::r-x mask::rw- other::---" "the ACL of a new file"
equal "$(shown -d team/directory)" "$want" "the default ACL of a new directory"
setfacl -k team
as 1000 sh -c 'umask 077; touch team/other'
equal "$(stat -c %a team/other)" 600 "the mode of a new file without a default ACL"
cp -p team/file copy
equal "$(shown copy)" "$(shown team/file)" "the ACL of a copy"

# Without the option the mount shows none; the server applies them.
cd /
unmount
fuse allow_other
refused setfacl -m u:1001:r "$MOUNTED/copy"
as 1001 cat "$MOUNTED/copy"
unmount

# cp keeps ACLs and extended attributes if it is to, also of a file that is there already.
tree=$WORK/tree
mkdir "$tree"
echo text >"$tree/file"
setfacl -m u:1001:rw "$tree/file"
setfacl -m u:1001:rwx "$tree"
setfacl -d -m g:2001:rx "$tree"
setfattr -n user.note -v kept "$tree/file"
everything() { (cd "$1" && getfacl -npR . && getfattr -Rd -m '^user' . 2>/dev/null); }
"$HOWDAH" cp -qrT "$tree" "$url/plain"
"$HOWDAH" cp -qrT --acls "$url/plain" "$WORK/plain"
equal "$(shown "$WORK/plain/file")" "user::rw- group::rw- other::r--" "the ACL of a copy without ACLs"
"$HOWDAH" cp -qrT --acls "$tree" "$url/tree"
setfacl -m u:1003:r "$tree/file"
"$HOWDAH" cp -qrT --acls "$tree" "$url/tree"
"$HOWDAH" cp -qrT --acls "$url/tree" "$WORK/back"
equal "$(getfacl -cnp "$WORK/back/file")" "$(getfacl -cnp "$tree/file")" "the ACL of a file that was there"
equal "$(getfacl -cnp "$WORK/back")" "$(getfacl -cnp "$tree")" "the ACLs of a directory"
[ "$server" = howdah ] || exit 0
"$HOWDAH" cp -qrT --xattrs "$tree" "$url/tree?version=4.2"
"$HOWDAH" cp -qrT --xattrs "$url/tree?version=4.2" "$WORK/back"
equal "$(everything "$WORK/back" | sha256sum)" "$(everything "$tree" | sha256sum)" "what came back"
