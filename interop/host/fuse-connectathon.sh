# Connectathon on a mount by FUSE, with its lock tests. Over NFSv3, locks are this host's; over NFSv4.2, the server's.
. "$WORK/scripts/fuse.sh"
fuse
PARTS="b g s l"
. "$WORK/scripts/suite-connectathon.sh"
unmount
