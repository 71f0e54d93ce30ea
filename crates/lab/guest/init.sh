#!/bin/sh
# PID 1 of a guest: makes it a machine with a network and NFS, runs the script that MAIN names, halts.
# WORK comes from the kernel's command line; everything else from $WORK/job.env.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
# In an ordinary user's namespace the owner of set-uid programs is nobody, and mount(8) would become that.
[ -n "$PLAIN" ] || PLAIN=1 exec setpriv --no-new-privs "$0"
set -a
. "$WORK/job.env"
set +a

boot() {
    mount -t proc proc /proc
    mount -t sysfs sysfs /sys
    mkdir -p /dev/shm /dev/pts
    mount -t tmpfs tmpfs /dev/shm
    mount -t devpts devpts /dev/pts
    mount -t tmpfs tmpfs /run
    mount -t tmpfs tmpfs /mnt
    mkdir -p /run/lock /run/rpcbind /run/sendsigs.omit.d /mnt/n
    [ ! -d /var/lib/nfs ] || mount -t tmpfs tmpfs /var/lib/nfs
    # The guest's modules are not where modules are looked for, by us and by the kernel itself.
    mkdir -p /run/modules/lib/modules
    ln -s "$GUEST_FILES/usr/lib/uml/modules/$(uname -r)" /run/modules/lib/modules/
    printf '#!/bin/sh\nexec /sbin/modprobe -d /run/modules "$@"\n' >/run/modprobe
    chmod +x /run/modprobe
    echo /run/modprobe >/proc/sys/kernel/modprobe
    for module in ${MODULES:-ipv6 nfsv3 nfsv4}; do
        /run/modprobe "$module" || echo "modprobe $module failed"
    done
    ip link set lo up
    ip addr add "$GUEST_ADDRESS/24" dev vec0
    ip link set vec0 up
    ip -6 addr add "$GUEST_ADDRESS6/64" dev vec0 nodad
    [ "${GUEST_WINDOW:-0}" = 0 ] || ip route replace "${GUEST_ADDRESS%.*}.0/24" dev vec0 src "$GUEST_ADDRESS" window "$GUEST_WINDOW"
    [ -z "$GATEWAY" ] || ip route add default via "$GATEWAY"
    [ -z "$GATEWAY6" ] || ip -6 route add default via "$GATEWAY6"
}

boot >"$WORK/log/boot.txt" 2>&1
sh -eu "$WORK/scripts/$MAIN"
dmesg >"$WORK/log/dmesg.txt"
umount -l /mnt/n 2>/dev/null
sync
halt -f
