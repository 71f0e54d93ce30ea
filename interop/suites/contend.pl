# One of those who contend for a file: contend.pl KIND FILE HOLDER ROUNDS. Locks it, by fcntl or by flock, raises the number in it, and
# unlocks it. Meanwhile HOLDER, a directory of the host that all of them see, is made: who finds it there is the second holder.
use strict; use warnings; use Fcntl qw(:DEFAULT :seek :flock);
my ($kind, $path, $holder, $rounds) = @ARGV;
open my $file, "+<", $path or die "$path: $!";
sub by_fcntl { fcntl($file, F_SETLKW, pack("s s x4 q q i x4", shift, SEEK_SET, 0, 0, 0)) or die "fcntl: $!" }
sub lock_it { $kind eq "fcntl" ? by_fcntl(F_WRLCK) : (flock($file, LOCK_EX) or die "flock: $!") }
sub unlock_it { $kind eq "fcntl" ? by_fcntl(F_UNLCK) : (flock($file, LOCK_UN) or die "flock: $!") }
for (1 .. $rounds) {
    lock_it();
    mkdir $holder or die "two holders: $!";
    sysseek($file, 0, SEEK_SET);
    defined sysread($file, my $number, 20) or die "read: $!";
    sysseek($file, 0, SEEK_SET);
    syswrite($file, ($number || 0) + 1) or die "write: $!";
    rmdir $holder or die "no holder: $!";
    unlock_it();
    select(undef, undef, undef, 0.001 * rand(4));
}
