//! A registration that lasts: rpcbind forgets everything when it ends, so its successor gets the registration again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::conversation::Conversation;
use super::register::PATIENCE;
use super::{Registration, RegistrationError, Row};

/// How long it is between two looks for an rpcbind that is gone: clients that ask it find nobody until then.
const LOOK: Duration = Duration::from_secs(1);
/// The same for one that does not want us.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// A registration that is made again whenever rpcbind does not know it any more; taken back when it is dropped.
#[derive(Debug)]
#[must_use = "dropped, the registration is taken back"]
pub struct Keeper {
    rows: Vec<Row>,
    /// Closed, it ends the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<Registration>>,
}

impl Registration {
    /// Keeps it, on a thread of its own.
    ///
    /// # Errors
    /// There can be no thread; then it is taken back.
    pub fn keep(self) -> io::Result<Keeper> {
        let (stop, stopped) = UnixStream::pair()?;
        let rows = self.rows().to_vec();
        let keep = move || {
            let mut registration = self;
            keep(&mut registration, stopped.as_fd());
            registration
        };
        let thread = thread::Builder::new().name("rpcbind".to_owned()).spawn(keep)?;
        Ok(Keeper { rows, stop: Some(stop), thread: Some(thread) })
    }
}

impl Keeper {
    /// What rpcbind took.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Takes back what still is as it was registered here.
    ///
    /// # Errors
    /// rpcbind is gone, or does not answer.
    pub fn take_back(mut self) -> Result<(), RegistrationError> {
        self.end().map_or(Ok(()), Registration::take_back)
    }

    fn end(&mut self) -> Option<Registration> {
        drop(self.stop.take());
        // It only fails if the thread panicked, which was reported when it happened.
        self.thread.take()?.join().ok()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// Looks after it until `stopped` is closed. A connection to rpcbind ends when rpcbind does, and when nobody has spoken for half
/// a minute: then it is looked, too.
fn keep(registration: &mut Registration, stopped: BorrowedFd<'_>) {
    let mut is_told = false;
    loop {
        let renewed = Conversation::open(PATIENCE).and_then(|mut rpcbind| {
            let count = registration.renew(&mut rpcbind)?;
            Ok((rpcbind, count))
        });
        let pause = match renewed {
            Ok((rpcbind, count)) => {
                if count > 0 {
                    tracing::info!(
                        rows = count,
                        "registered with rpcbind again, which had lost the entry of this server"
                    );
                }
                is_told = false;
                if waits_for(stopped, Some(rpcbind.as_fd()), None) {
                    return;
                }
                LOOK
            }
            Err(error) => {
                if !std::mem::replace(&mut is_told, true) {
                    tracing::warn!(%error, "not registered with rpcbind; until it works again, NFSv3 clients must pass the port");
                }
                match error {
                    // It is gone, or went while it was asked.
                    RegistrationError::Unreachable(_) | RegistrationError::Broken { .. } => LOOK,
                    _ => LOOK_AGAIN,
                }
            }
        };
        if waits_for(stopped, None, Some(pause)) {
            return;
        }
    }
}

/// Waits until the other end of either is closed, or for so long; whether the first one's is.
fn waits_for(stopped: BorrowedFd<'_>, other: Option<BorrowedFd<'_>>, most: Option<Duration>) -> bool {
    let most = most.and_then(|most| Timespec::try_from(most).ok());
    let mut files: Vec<PollFd<'_>> = [Some(stopped), other]
        .into_iter()
        .flatten()
        .map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN))
        .collect();
    loop {
        match poll(&mut files, most.as_ref()) {
            Err(Errno::INTR) => {}
            // Nobody can be waited for: the thread ends, and what is registered stays.
            Err(_) => return true,
            Ok(_) => return !files[0].revents().is_empty(),
        }
    }
}
