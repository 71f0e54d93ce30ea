# Permissions as several users see them; the server acts as each of them. Needs a server that may (root) and no squash.
. "$WORK/scripts/lib.sh"
mount_export
cd /mnt/n
chmod 755 .
mkdir home1000 shared sticky
chown 1000:1000 home1000
chmod 700 home1000
chown 0:2000 shared
chmod 2770 shared
chmod 1777 sticky

# The export allows set-id bits.
touch program
for mode in 4711 2755; do
    chmod "$mode" program
    drop_caches
    equal "$(stat -c %a program)" "$mode" "mode with set-id"
done
rm program

as 1000 sh -c 'echo mine >home1000/file; chmod 600 home1000/file'
equal "$(stat -c %u:%g:%a home1000/file)" 1000:1000:600 "owner of a user's file"
refused "Permission denied" as 1001 cat home1000/file
refused "Permission denied" as 1001 ls home1000
refused "Permission denied" as 1000 touch here
equal "$(as 0 cat home1000/file)" mine "root reads it, unsquashed"

as 1001 sh -c 'umask 002; echo ours >shared/file'
equal "$(stat -c %u:%g shared/file)" 1001:2000 "a set-gid directory gives its group"
refused "Permission denied" as 1000 cat shared/file
# Who may write a file may empty it, which sets one of its times to now: with data in it, and empty.
as 1001 sh -c 'umask 002; echo data >shared/emptied'
for turn in 1 2; do as 1002 sh -c ': >shared/emptied'; done
equal "$(stat -c %u:%s shared/emptied)" 1001:0 "a file emptied by another member of its group"

as 1000 touch sticky/file
refused "Operation not permitted" as 1001 rm -f sticky/file
as 1000 rm sticky/file

refused "Operation not permitted" as 1001 chown 1001 /mnt/n/sticky
as 1000 touch sticky/given
refused "Operation not permitted" as 1000 chown 1001 sticky/given
refused "Operation not permitted" as 1001 chmod 777 sticky/given
as 1000 chmod 4755 sticky/given
equal "$(stat -c %a sticky/given)" 4755 "a set-uid bit"
as 1000 sh -c 'echo changed >sticky/given'

# The owner goes on to write and read a file that he has open, whatever its mode has become.
as 1000 sh -eu -c 'exec 3<>home1000/closed; chmod 000 home1000/closed; echo still >&3; sync home1000 2>/dev/null || :'
drop_caches
equal "$(as 0 cat home1000/closed)" still "what the owner wrote after chmod 000"
refused "Permission denied" as 1000 cat home1000/closed
cd /
