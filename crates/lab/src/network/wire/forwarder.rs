//! The thread that carries packets in one direction. It sleeps until a packet comes in or is due.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::Tun;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;

use super::line::Line;

/// Packets that are taken before others may look at the line.
const TURN: usize = 64;

/// How late the kernel may wake us, so that it can wake several at once: by default 50 us, which is more than a delay may be
/// wrong.
const TIMER_SLACK_NANOSECONDS: NonZeroU64 = NonZeroU64::new(1000).expect("not zero");

/// One direction's.
#[derive(Debug)]
pub struct Forwarder {
    /// The sender's interface.
    pub from: Tun,
    /// The receiver's.
    pub to: Tun,
    /// What is between.
    pub line: Arc<Mutex<Line>>,
    /// Readable when it is over.
    pub over: Arc<OwnedFd>,
}

impl Forwarder {
    /// Carries packets until it is over, or an interface fails.
    pub fn run(&self) -> io::Result<()> {
        set_current_timer_slack(Some(TIMER_SLACK_NANOSECONDS))?;
        while !self.wait(self.turn()?)? {}
        Ok(())
    }

    /// Carries what can be carried now; says when to look again even if nothing comes in.
    fn turn(&self) -> io::Result<Option<Instant>> {
        let mut line = self.line.lock();
        for _ in 0..TURN {
            line.deliver(&self.to)?;
            if !line.take(&self.from, &self.to)? {
                return Ok(line.next_event());
            }
        }
        Ok(Some(Instant::now()))
    }

    /// Waits for a packet or that time. True: it is over.
    fn wait(&self, until: Option<Instant>) -> io::Result<bool> {
        let most = until.map(|at| timespec(at.saturating_duration_since(Instant::now())));
        let mut files = [PollFd::new(&self.from, PollFlags::IN), PollFd::new(&self.over, PollFlags::IN)];
        match poll(&mut files, most.as_ref()) {
            Ok(_) => Ok(!files[1].revents().is_empty()),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    // A time that is too long to say is a longest sleep.
    Timespec::try_from(time).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}
