//! A thread that must be on time: before whatever else runs on this machine if that is allowed, else as soon as others can be
//! made to wait.

use std::io;
use std::time::Duration;

use rustix::process::getpriority_process;

use crate::syscall;

/// The lowest of those before all others: the kernel's own threads that serve devices are before us.
const PRIORITY: u32 = 1;

/// What an ordinary thread may run in one go (Linux 6.12 and later; before that it has no effect): the shorter, the sooner it
/// has its turn. The kernel takes no less.
const SLICE: Duration = Duration::from_micros(100);

/// When the kernel lets a thread run that has been woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// At once, before all that have no priority of this kind (`SCHED_FIFO`).
    BeforeOthers,
    /// In turn, and its turn comes early.
    EarlyTurn,
    /// In turn.
    InTurn,
}

impl Urgency {
    /// The most that the calling thread is allowed, which it has from now on. To be before others takes root
    /// (`CAP_SYS_NICE` or `RLIMIT_RTPRIO`).
    pub fn most() -> Self {
        if syscall::run_before_others(PRIORITY).is_ok() {
            return Self::BeforeOthers;
        }
        Self::among_others()
    }

    /// Of those that take turns the earliest, which the calling thread has from now on.
    pub fn among_others() -> Self {
        match shorten_turns() {
            Ok(()) => Self::EarlyTurn,
            Err(_) => Self::InTurn,
        }
    }
}

/// The calling thread keeps its niceness.
fn shorten_turns() -> io::Result<()> {
    syscall::set_time_slice(getpriority_process(None)?, SLICE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_before_others_is_among_them_again() {
        let then = std::thread::spawn(|| {
            Urgency::most();
            Urgency::among_others();
            syscall::is_before_others()
        });
        assert!(!then.join().expect("a thread").expect("asked"));
    }

    #[test]
    fn every_thread_may_have_an_early_turn() {
        // Of a thread of its own: the others keep what they have.
        let tried = std::thread::spawn(|| (shorten_turns(), Urgency::most()));
        let (shortened, most) = tried.join().expect("a thread");
        shortened.expect("nobody needs a right for that");
        assert_ne!(most, Urgency::InTurn);
    }
}
