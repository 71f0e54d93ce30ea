# Read delegations over version 4: a file that nobody changes is opened and read without a call, and a change by another client is seen.
. "$WORK/scripts/lib.sh"
mount_export
# calls NAMES: how often the client has made one of these calls.
calls() { awk -v names=" $1 " '/^\t *[A-Z_]+: / && index(names, " " substr($1, 1, length($1) - 1) " ") { all += $2 } END { print all + 0 }' /proc/self/mountstats; }
url="nfs://$SERVER_ADDRESS:$PORT/"
# Made by somebody else: whoever has just written a file gets no delegation of it before it is closed at the server.
on_host "echo one >'$WORK/one'; echo second >'$WORK/second'; '$HOWDAH' cp -q '$WORK/one' '${url}file'" || fail "the host cannot make the file"
equal "$(cat /mnt/n/file)" one "the file"
# Now it asks once what this user may do with it.
equal "$(cat /mnt/n/file)" one "the file"
before=$(calls "OPEN OPEN_NOATTR CLOSE READ GETATTR ACCESS LOOKUP")
for again in 1 2 3 4 5 6 7 8 9 10; do equal "$(cat /mnt/n/file)" one "the file, opened again"; done
equal "$(($(calls "OPEN OPEN_NOATTR CLOSE READ GETATTR ACCESS LOOKUP") - before))" 0 "calls for a file that is delegated"
equal "$(calls DELEGRETURN)" 0 "delegations given back"
# It is open while another client puts another file in its place.
exec 3</mnt/n/file
on_host "'$HOWDAH' cp -q '$WORK/second' '${url}file'" || fail "the host cannot change the file"
equal "$(cat /mnt/n/file)" second "the file that another client changed"
exec 3<&-
[ "$(calls DELEGRETURN)" -ge 1 ] || fail "no delegation was given back"
umount /mnt/n
