# What the guest's jobs share. A job fails by any command's failure (sh -eu), says `note` for a figure worth showing,
# and `skip` for what this guest cannot do.

note() { echo "note: $*"; }
fail() { echo "failed: $*"; exit 1; }
skip() { echo "skip: $*"; exit 77; }

# mount_export [OPTION,…]: the export on /mnt/n; without words of its own, as the scenario says.
mount_export() {
    mount -v -t nfs -o "${1:-$MOUNT_OPTIONS}" "$MOUNT_SOURCE" /mnt/n >>"$WORK/log/mount.txt"
    grep ' /mnt/n ' /proc/mounts
}

remount() {
    umount /mnt/n
    mount_export
}

# What the client has cached is gone, so that the next read asks the server.
drop_caches() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
}

# tell_host NAME [TEXT]: the host finds the file NAME with the text. It may remove the file at once, so the file appears by a rename:
# after it makes a file, the guest's kernel looks at it again, and fails if it is gone.
tell_host() {
    echo "${2:-}" >"$WORK/$1.new"
    mv "$WORK/$1.new" "$WORK/$1"
}

equal() { [ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"; }

# refused WORDS COMMAND…: the command must fail, and its message must hold the words.
refused() {
    words=$1
    shift
    if message=$("$@" 2>&1); then fail "allowed: $*"; fi
    case $message in *"$words"*) ;; *) fail "$*: refused with '$message', want '$words'" ;; esac
}

# as USER COMMAND…: as user and group of that number, with group 2000 too for users 1001 and 1002.
as() {
    user=$1
    shift
    case $user in 1001 | 1002) groups=$user,2000 ;; *) groups=$user ;; esac
    setpriv --reuid "$user" --regid "$user" --groups "$groups" "$@"
}

seconds() { cut -d. -f1 /proc/uptime; }

# expect_on_server FILE…: the host compares these files in the export with what this client saw, once we are done.
expect_on_server() { (cd /mnt/n && sha256sum "$@") >>"$WORK/expected.sha256"; }

# on_host SCRIPT: the host runs it, and we wait; tells whether it ended well.
on_host() {
    rm -f "$WORK/errand.code"
    printf '%s\n' "$1" >"$WORK/errand.new"
    mv "$WORK/errand.new" "$WORK/errand"
    until [ -s "$WORK/errand.code" ]; do sleep 0.02; done
    [ "$(cat "$WORK/errand.code")" = 0 ]
}

# end_on_host SIGNAL FILE: the process whose number the file holds; waits until all of its threads, and so its sockets, are gone. Nobody
# may wait for it, so that it can stay as a zombie.
end_on_host() {
    on_host "
        process=\$(cat \"$2\")
        kill -$1 \$process
        for try in \$(seq 300); do
            [ -d /proc/\$process/task ] || exit 0
            ! grep -q '^State:.Z' /proc/\$process/status || [ \$(ls /proc/\$process/task | wc -l) -gt 1 ] || exit 0
            sleep 0.1
        done
        exit 1
    " || fail "the process in $2 does not end by $1"
}

# What a client of version 3 needs for locks: rpcbind, where servers find its lock manager, and statd, which is told of their restarts.
start_statd() {
    mkdir -p /var/lib/nfs/sm /var/lib/nfs/sm.bak
    rpcbind -w
    rpc.statd --no-notify
}

# hold FILE NAME [COMMAND]: locks a file in the background until /run/NAME-let-go is there; comes back when it has the lock. The command
# runs what locks, as another user.
hold() {
    rm -f "/run/$2-held" "/run/$2-let-go"
    chmod 1777 /run
    ${3:-} flock "$1" sh -c ": >/run/$2-held; until [ -e /run/$2-let-go ]; do sleep 0.05; done" &
    until [ -e "/run/$2-held" ]; do sleep 0.05; done
}

let_go() { : >"/run/$1-let-go"; }
