# An export in memory.
. "$WORK/scripts/lib.sh"
. "$WORK/scripts/relay.sh"
relay "memory:1G"
through_relay
