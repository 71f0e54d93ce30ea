//! Network namespaces without names: each lives as long as somebody holds it, so that nothing of it is left, however its
//! holders end.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::syscall;

/// A network namespace: interfaces, addresses, routes, sockets and settings of its own.
#[derive(Debug, Clone)]
pub struct Namespace {
    file: Arc<OwnedFd>,
}

impl Namespace {
    /// A new one, with nothing in it but a loopback interface that is down. Takes the right to administer networks.
    pub fn new() -> io::Result<Self> {
        let made = on_a_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            // This thread's own, not the process's.
            File::open("/proc/thread-self/ns/net")
        })?;
        Ok(Self { file: Arc::new(made.into()) })
    }

    /// Runs something inside, on a thread of its own; the sockets that it opens, and the threads and processes that it
    /// starts, are inside too.
    pub fn run_in<T: Send>(&self, what: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_a_thread(|| {
            self.enter()?;
            Ok(what())
        })
    }

    /// Moves the calling thread inside, for good.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.file, CloneFlags::CLONE_NEWNET)?)
    }

    /// A command that runs inside, and in a mount namespace of its own in which `/sys` shows the interfaces of this one.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        syscall::enter_before_exec(&mut command, Arc::clone(&self.file));
        command
    }
}

/// Has a command begin with no signal blocked, though the thread that starts it blocks some.
pub fn with_no_signal_blocked(command: &mut Command) -> &mut Command {
    syscall::unblock_before_exec(command);
    command
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// A namespace belongs to a thread: the caller's stays as it is.
fn on_a_thread<T: Send>(what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespace".to_owned()).spawn_scoped(scope, what)?;
        thread.join().unwrap_or_else(|payload| panic::resume_unwind(payload))
    })
}
