//! Requests that are not answered, and those who gave up waiting for them.
//!
//! The kernel lets nobody go who waits for a request that this process has read, not even by SIGKILL; and fuser hands no
//! FUSE_INTERRUPT on. So a request that takes long is looked after: when its process has a signal that would end its wait, it
//! is answered with EINTR in the place of the thread that makes the call, whose late answer is dropped.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use fuser::{
    Errno, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry,
    ReplyLock, ReplyLseek, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr,
};
use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, test_kill_process};

/// How often waiting processes are looked at; and how long a request may take before its process is.
const LOOK: Duration = Duration::from_millis(100);

/// A reply that can refuse.
pub trait Reply: Send + 'static {
    /// Answers with an error.
    fn refuse(self, errno: Errno);
}

macro_rules! replies {
    ($($reply:ty),*) => { $(impl Reply for $reply { fn refuse(self, errno: Errno) { self.error(errno) } })* };
}

replies!(
    ReplyAttr,
    ReplyCreate,
    ReplyData,
    ReplyDirectory,
    ReplyDirectoryPlus,
    ReplyEmpty,
    ReplyEntry,
    ReplyLock,
    ReplyLseek,
    ReplyOpen,
    ReplyStatfs,
    ReplyWrite,
    ReplyXattr
);

/// By which signals a program gives up waiting for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndingSignals {
    /// Those by which a person ends a program. Others, such as those of timers, must not make reads and writes fail.
    ByPersons,
    /// All that the program does not ignore: it waits for a lock, and may have set a timer for that.
    All,
}

/// What can be answered before its time.
trait Interruptible: Send + Sync {
    fn interrupt(&self);
}

/// A reply that is given once: the first answer is sent.
struct Slot<R>(Mutex<Option<R>>);

impl<R> Slot<R> {
    fn take(&self) -> Option<R> {
        self.0.lock().take()
    }
}

/// A request that began. One that is dropped without an answer, as by a panic, is refused: its program does not wait for ever.
pub struct RequestInProgress<R: Reply> {
    all: Arc<Unanswered>,
    number: u64,
    slot: Arc<Slot<R>>,
}

impl<R: Reply> RequestInProgress<R> {
    /// Whether the reply was given already.
    pub fn is_answered(&self) -> bool {
        self.slot.0.lock().is_none()
    }

    /// The number of this request.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// It is about to be answered: gives the reply, unless its process gave up.
    pub fn end(self) -> Option<R> {
        self.slot.take()
    }
}

impl<R: Reply> Drop for RequestInProgress<R> {
    fn drop(&mut self) {
        self.all.waiting.lock().requests.remove(&self.number);
        if let Some(reply) = self.slot.take() {
            reply.refuse(Errno::EIO);
        }
    }
}

impl<R: Reply> Interruptible for Slot<R> {
    fn interrupt(&self) {
        if let Some(reply) = self.take() {
            reply.refuse(Errno::EINTR);
        }
    }
}

struct Waiting {
    process: u32,
    signals: EndingSignals,
    since: Instant,
    slot: Arc<dyn Interruptible>,
}

/// All requests that are not answered.
#[derive(Default)]
pub struct Unanswered {
    waiting: Mutex<Table>,
    more: Condvar,
    numbers: AtomicU64,
}

#[derive(Default)]
struct Table {
    requests: HashMap<u64, Waiting>,
    /// The watch sleeps until there are some.
    sleeps: bool,
    ending: bool,
}

impl Unanswered {
    /// A request begins.
    pub fn begin<R: Reply>(
        self: &Arc<Self>,
        process: u32,
        signals: EndingSignals,
        reply: R,
    ) -> RequestInProgress<R> {
        let slot = Arc::new(Slot(Mutex::new(Some(reply))));
        let number = self.numbers.fetch_add(1, Relaxed);
        // The kernel itself does not give up.
        if process != 0 {
            let waiting = Waiting { process, signals, since: Instant::now(), slot: Arc::clone(&slot) as _ };
            let mut table = self.waiting.lock();
            table.requests.insert(number, waiting);
            if table.sleeps {
                self.more.notify_one();
            }
        }
        RequestInProgress { all: Arc::clone(self), number, slot }
    }

    /// The watch ends.
    pub fn stop(&self) {
        self.waiting.lock().ending = true;
        self.more.notify_all();
    }

    /// Looks after those that wait, until the end.
    pub fn watch(&self) {
        let mut table = self.waiting.lock();
        while !table.ending {
            if table.requests.is_empty() {
                table.sleeps = true;
                self.more.wait(&mut table);
                table.sleeps = false;
                continue;
            }
            self.more.wait_for(&mut table, LOOK);
            let late = |waiting: &&Waiting| waiting.since.elapsed() >= LOOK;
            let late: Vec<(u32, EndingSignals, Arc<dyn Interruptible>)> = table
                .requests
                .values()
                .filter(late)
                .map(|waiting| (waiting.process, waiting.signals, Arc::clone(&waiting.slot)))
                .collect();
            drop(table);
            for (process, signals, slot) in &late {
                if gave_up(*process, *signals) {
                    slot.interrupt();
                }
            }
            table = self.waiting.lock();
        }
    }
}

/// Whether a thread has a signal by which its user wants it to stop waiting, or is being ended by one.
fn gave_up(process: u32, signals: EndingSignals) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    let Ok(status) = status else { return is_gone(process) };
    if has_signal(&status, signals) {
        return true;
    }
    is_killed(&fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default())
}

/// A thread that is gone waits for nothing. Of one that only cannot be looked at nobody knows.
fn is_gone(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| test_kill_process(process) == Err(rustix::io::Errno::SRCH))
}

/// SIGKILL, which the kernel also makes of every other signal that ends a process; and those that count.
fn has_signal(status: &str, signals: EndingSignals) -> bool {
    const BY_PERSONS: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
    /// They do nothing to a program that does not handle them, or stop it.
    const QUIET: [i32; 8] = [
        libc::SIGCHLD,
        libc::SIGCONT,
        libc::SIGURG,
        libc::SIGWINCH,
        libc::SIGSTOP,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ];
    let bit = |signal: i32| 1u64 << (signal - 1);
    let set = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| u64::from_str_radix(line.trim(), 16).ok()).unwrap_or(0)
    };
    let pending = set("SigPnd:") | set("ShdPnd:");
    let heard = pending & !set("SigBlk:") & !set("SigIgn:");
    let counting = match signals {
        EndingSignals::ByPersons => BY_PERSONS.iter().fold(0, |all, &signal| all | bit(signal)),
        EndingSignals::All => !QUIET.iter().fold(0, |all, &signal| all | bit(signal)) | set("SigCgt:"),
    };
    pending & bit(libc::SIGKILL) != 0 || heard & counting != 0
}

/// Whether a line of /proc/PID/stat is that of a process that closes its files because a signal ended it: nobody hears what
/// that close answers.
fn is_killed(stat: &str) -> bool {
    /// `PF_EXITING`, since Linux 2.6.
    const EXITING: u64 = 4;
    // The name of the program may hold anything; fields are counted from behind it.
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let field = |number: usize| fields.split_whitespace().nth(number - 3)?.parse::<u64>().ok();
    let exiting = field(9).is_some_and(|flags| flags & EXITING != 0);
    let signal = field(52).unwrap_or(0) & 0x7f;
    exiting && signal != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends how it was refused.
    struct Told(std::sync::mpsc::Sender<i32>);

    impl Reply for Told {
        fn refuse(self, errno: Errno) {
            self.0.send(errno.code()).expect("heard");
        }
    }

    #[test]
    fn a_request_whose_work_panics_is_refused() {
        let (all, (tell, receiver)) = (Arc::new(Unanswered::default()), std::sync::mpsc::channel());
        let crew = howdah_threads::Threads::new("test", 1, howdah_threads::AtEnd::RunJobs);
        let begun = all.begin(std::process::id(), EndingSignals::ByPersons, Told(tell));
        crew.run(move || {
            let _begun = begun;
            panic!("as the test wants");
        });
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(libc::EIO));
        assert!(all.waiting.lock().requests.is_empty());
    }

    #[test]
    fn signals_that_end_a_wait_are_known() {
        let with = |pending: &str, shared: &str, blocked: &str, caught: &str| {
            format!(
                "Name:\tx\nSigPnd:\t{pending}\nShdPnd:\t{shared}\nSigBlk:\t{blocked}\nSigIgn:\t0\nSigCgt:\t{caught}\n"
            )
        };
        let all = |pending: &str, caught: &str| {
            super::has_signal(&with("0", pending, "0", caught), EndingSignals::All)
        };
        assert!(all("0000000000002000", "0"), "SIGALRM, for a program that waits for a lock");
        assert!(!all("0000000000010000", "0"), "SIGCHLD");
        assert!(all("0000000000010000", "0000000000010000"), "SIGCHLD, which the program handles");
        let status = |pending: &str, shared: &str, blocked: &str| with(pending, shared, blocked, "0");
        let has_signal = |status: &str| super::has_signal(status, EndingSignals::ByPersons);
        assert!(has_signal(&status("0000000000000100", "0", "0")), "SIGKILL");
        assert!(has_signal(&status("0", "0000000000000002", "0")), "SIGINT that the program handles");
        assert!(!has_signal(&status("0", "0000000000000002", "2")), "SIGINT that is blocked");
        assert!(!has_signal(&status("0", "0000000000002000", "0")), "SIGALRM, a timer");
        assert!(!has_signal(""));
    }

    #[test]
    fn a_process_that_a_signal_ends_is_known() {
        let stat = |flags: u64, code: u64| {
            let between = "0 ".repeat(42);
            format!("7 (a) b) D 1 1 1 0 1 {flags} {between}{code}")
        };
        assert!(is_killed(&stat(4, 9)));
        assert!(!is_killed(&stat(4, 256)), "it exits by itself, with status 1");
        assert!(!is_killed(&stat(0, 9)));
        assert!(!gave_up(std::process::id(), EndingSignals::All));
    }
}
