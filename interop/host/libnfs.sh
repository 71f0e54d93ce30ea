# libnfs, an NFS client in user space, from an ordinary port to an ordinary port: no rpcbind, nothing privileged.
. "$WORK/scripts/lib.sh"
# A file right under the export "/" is //FILE: of /FILE libnfs takes the empty path before the slash for the export's
# name, and then our "/" for another export below it.
url() { echo "nfs://$SERVER_ADDRESS$EXPORT_NAME/$1?nfsport=$PORT&mountport=$PORT&version=3"; }
root() { echo "nfs://$SERVER_ADDRESS${EXPORT_NAME%/}/?nfsport=$PORT&mountport=$PORT&version=3"; }
cd "$WORK"
"$TOOL" pattern --seed "$SEED" --bytes 8000001 >local
nfs-cp local "$(url copied)"
cmp local "$EXPORT_DIRECTORY/copied"
nfs-cat "$(url copied)" | cmp - local
nfs-cp "$(url copied)" back
cmp local back

mkdir -p "$EXPORT_DIRECTORY/directory/below"
echo hello >"$EXPORT_DIRECTORY/directory/below/file"
for n in $(seq 300); do : >"$EXPORT_DIRECTORY/directory/entry-$n"; done
equal "$(nfs-cat "$(url directory/below/file)")" hello "nfs-cat of a file in a directory"
listing=$(nfs-ls "$(root)")
contains "$listing" ' 8000001 copied$' "nfs-ls of the export"
contains "$listing" '^d.* directory$' "nfs-ls of the export"
equal "$(nfs-ls "$(url directory)" | grep -c entry-)" 300 "entries by nfs-ls"
contains "$(nfs-ls -R "$(root)")" ' directory/below/file$' "nfs-ls -R"
if nfs-cat "$(url nothing)" 2>message; then fail "nfs-cat of a file that is not there"; fi
contains "$(cat message)" NOENT "what nfs-cat says of a file that is not there"
if nfs-cat "$(url ../../../../../../etc/hostname)" >out 2>&1; then
    if cmp -s out /etc/hostname; then fail "a file outside the export was read"; fi
fi
rm -f local back out message
