# fsx on a mount by FUSE.
. "$WORK/scripts/fuse.sh"
fuse
. "$WORK/scripts/suite-fsx.sh"
unmount
