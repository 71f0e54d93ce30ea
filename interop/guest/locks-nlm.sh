# Locks over version 3, without nolock: what holds over version 4 holds here too, and between two mounts of one client, which know
# nothing of each other's files; who waits for a lock is called back.
. "$WORK/scripts/lib.sh"
start_statd
. "$WORK/scripts/locks-nfs4.sh"
mount_export "$MOUNT_OPTIONS,nosharecache"
mkdir -p /run/other
mount -t nfs -o "$MOUNT_OPTIONS,nosharecache" "$MOUNT_SOURCE" /run/other
hold /mnt/n/file first
if flock -n /run/other/file true; then fail "two mounts hold one file"; fi
if flock -n -s /run/other/file true; then fail "a shared lock beside an exclusive one"; fi
flock /run/other/file sh -c 'cut -d" " -f1 /proc/uptime >/run/granted' &
# Long enough to be blocked, and too short to ask again: the client does so every 30 s.
sleep 2
[ ! -e /run/granted ] || fail "two mounts hold one file"
released=$(cut -d' ' -f1 /proc/uptime)
let_go first
wait
took=$(awk "BEGIN { print $(cat /run/granted) - $released }")
note "a lock that was waited for came after $took s"
awk "BEGIN { exit !($took < 2) }" || fail "it was called back after $took s"
# Who waits no longer does not get it.
hold /mnt/n/file second
refused "" timeout 1 flock /run/other/file true
let_go second
wait
flock -w 5 /mnt/n/file true || fail "somebody has the lock who does not wait for it"
umount /run/other
# Versions 3 and 4 lock the same files.
if mount -t nfs -o vers=4.2,port=2049 "$MOUNT_SOURCE" /run/other; then
    hold /mnt/n/file third
    if flock -n /run/other/file true; then fail "version 4 has what version 3 holds"; fi
    let_go third
    wait
    hold /run/other/file fourth
    if flock -n /mnt/n/file true; then fail "version 3 has what version 4 holds"; fi
    let_go fourth
    wait
    # Who waits over version 4 is called over its own connection: it asks again by itself after 30 s only.
    hold /mnt/n/file fifth
    flock /run/other/file sh -c 'cut -d" " -f1 /proc/uptime >/run/granted-4' &
    sleep 2
    [ ! -e /run/granted-4 ] || fail "version 4 has what version 3 holds"
    released=$(cut -d' ' -f1 /proc/uptime)
    let_go fifth
    wait
    took=$(awk "BEGIN { print $(cat /run/granted-4) - $released }")
    note "a lock that was waited for over version 4 came after $took s"
    awk "BEGIN { exit !($took < 2) }" || fail "it was called back after $took s"
    flock -w 5 /mnt/n/file true || fail "a lock of version 4 outlives its owner"
    note "version 4 was mounted beside it"
    umount /run/other
fi
umount /mnt/n
