# The guest as a server: the Linux kernel's own, exporting a fresh file system of the type FILE_SYSTEM as /mnt/s, until
# the host says that it is enough.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/nfsd.sh"
tell_host serving
until [ -e "$WORK/stop-serving" ]; do sleep 0.2; done
