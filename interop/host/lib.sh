# What the jobs on the host share. A job fails by any command's failure (sh -eu), says `note` for a figure worth
# showing, and `skip` for what this machine cannot do.

note() { echo "note: $*"; }
fail() { echo "failed: $*"; exit 1; }
skip() { echo "skip: $*"; exit 77; }
equal() { [ "$1" = "$2" ] || fail "$3: got '$1', want '$2'"; }
# contains TEXT WORDS NAME
contains() { printf '%s\n' "$1" | grep -Eq -- "$2" || fail "$3: no '$2' in: $1"; }
