# Connectathon on a mount by FUSE, with its lock tests: locks are this host's.
. "$WORK/scripts/fuse.sh"
fuse
PARTS="b g s l"
. "$WORK/scripts/suite-connectathon.sh"
unmount
