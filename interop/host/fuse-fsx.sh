# fsx on a mount by FUSE.
. "$WORK/scripts/fuse.sh"
fuse
# A mount makes files longer by fallocate(2), and reserves no space within them over version 3.
FSX_OPTIONS=-F
. "$WORK/scripts/suite-fsx.sh"
unmount
