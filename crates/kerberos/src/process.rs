//! The two processes of a helper. The supervisor reads nothing that strangers sent; it starts a worker, and another when that
//! dies. Both end when the process that started them closes its end of the socket.

use std::env;
use std::io;
use std::os::fd::AsFd;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

use crate::library::Library;
use crate::message::Reply;
use crate::socket::send_message;
use crate::worker::work;

/// The environment variable by which a helper knows which of the two it is.
pub(crate) const ROLE: &str = "HOWDAH_KERBEROS_ROLE";
/// Its value for a supervisor.
pub(crate) const SUPERVISOR: &str = "supervisor";
/// Its value for a worker.
pub(crate) const WORKER: &str = "worker";

/// A worker that lived for so long did not die of its start.
const STARTED: Duration = Duration::from_millis(50);
/// The first pause before a worker is started that died of its start, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));
/// Memory of a worker: many times what the library takes.
const MEMORY_MAX: u64 = 1 << 30;
/// Files of a worker: socket, keytab, replay cache, caches, sockets to KDCs.
const FILES_MAX: u64 = 64;

/// What a process does that [`Helper::start`](crate::Helper::start) started: with its standard input, a socket. Returns when the
/// other end is closed. `confine` gives up what a worker does not need, once it has loaded the library.
///
/// # Errors
/// The process was not started as a helper, or cannot start a worker.
pub fn run_helper(confine: impl FnOnce()) -> io::Result<()> {
    match env::var(ROLE).as_deref() {
        Ok(WORKER) => {
            limit()?;
            let library = Library::load();
            confine();
            work(&io::stdin(), library.as_ref())
        }
        Ok(SUPERVISOR) => supervise(),
        _ => Err(io::Error::other("howdah starts this command by itself")),
    }
}

/// No core dump, no other process that looks in, and bounded memory.
fn limit() -> io::Result<()> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    for (resource, most) in [(Resource::Core, 0), (Resource::As, MEMORY_MAX), (Resource::Nofile, FILES_MAX)] {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

fn supervise() -> io::Result<()> {
    let mut pause = PAUSES.0;
    loop {
        let start = Instant::now();
        if run_worker()?.success() {
            return Ok(());
        }
        // A caller that waits for an answer asks again, or gives up. If nobody is there, the next worker finds that out.
        let _ = send_message(io::stdin().as_fd(), &Reply::Died.encode(0));
        if start.elapsed() >= STARTED {
            pause = PAUSES.0;
        } else {
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

/// This program once more, as it was started: also when another has taken its place on disk.
fn run_worker() -> io::Result<ExitStatus> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let mut command = Command::new("/proc/self/exe");
    command.args(env::args_os().skip(1)).env(ROLE, WORKER).stdin(socket).stdout(Stdio::null());
    command.spawn()?.wait()
}
