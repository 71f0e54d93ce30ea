# Locks over version 4: they exclude each other between processes, end with their owner, and are not local.
. "$WORK/scripts/lib.sh"
mount_export
! grep ' /mnt/n ' /proc/mounts | grep -q 'local_lock=all' || fail "locks are local here"
: >/mnt/n/file
# Of whole files.
flock /mnt/n/file sh -c 'echo held >/run/held; until [ -e /run/let-go ]; do sleep 0.05; done' &
until [ -e /run/held ]; do sleep 0.05; done
if flock -n /mnt/n/file true; then fail "two hold one file"; fi
if flock -n -s /mnt/n/file true; then fail "a shared lock beside an exclusive one"; fi
: >/run/let-go
wait
flock -n /mnt/n/file true || fail "a lock outlives its owner"
flock -s /mnt/n/file flock -n -s /mnt/n/file true || fail "two readers exclude each other"
# Of ranges.
cat >/run/ranges.pl <<'P'
use strict; use warnings; use Fcntl qw(:DEFAULT :seek);
sub lock { my ($file, $how, $type, $start, $length) = @_;
    return fcntl($file, $how, pack("s s x4 q q i x4", $type, SEEK_SET, $start, $length, 0)); }
open my $file, "+<", $ARGV[0] or die $!;
lock($file, F_SETLK, F_WRLCK, 0, 100) or die "first: $!";
lock($file, F_SETLK, F_RDLCK, 40, 20) or die "made weaker in the middle: $!";
my $child = fork;
if (!$child) {
    open my $other, "+<", $ARGV[0] or die $!;
    lock($other, F_SETLK, F_WRLCK, 100, 10) or die "beside it: $!";
    lock($other, F_SETLK, F_RDLCK, 45, 5) or die "shared in the middle: $!";
    lock($other, F_SETLK, F_WRLCK, 50, 1) and die "an exclusive lock within a shared one";
    lock($other, F_SETLK, F_RDLCK, 99, 1) and die "a shared lock within an exclusive one";
    exit 0;
}
waitpid $child, 0;
die "the other owner" if $?;
lock($file, F_SETLK, F_UNLCK, 10, 10) or die "unlocked in the middle: $!";
$child = fork;
if (!$child) {
    open my $other, "+<", $ARGV[0] or die $!;
    lock($other, F_SETLK, F_WRLCK, 10, 10) or die "what was let go: $!";
    lock($other, F_SETLK, F_WRLCK, 9, 1) and die "the byte before";
    lock($other, F_SETLK, F_WRLCK, 20, 1) and die "the byte behind";
    exit 0;
}
waitpid $child, 0;
die "the other owner" if $?;
P
perl /run/ranges.pl /mnt/n/file
# A counter that many processes raise under a lock loses nothing.
echo 0 >/mnt/n/counter
for process in 1 2 3 4; do
    (
        for round in $(seq 25); do
            flock /mnt/n/lock sh -c 'echo $(($(cat /mnt/n/counter) + 1)) >/mnt/n/counter'
        done
    ) &
done
wait
equal "$(cat /mnt/n/counter)" 100 "the counter"
umount /mnt/n
