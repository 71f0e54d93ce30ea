//! The thread that carries packets in one direction. It sleeps until a packet comes in or is about to be due.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::{Tun, Urgency};
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::thread::set_current_timer_slack;

use super::line::Line;
use super::precedence::Precedence;
use super::vigil::{Rest, Vigil};

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
    /// It runs before others.
    pub punctual: bool,
}

impl Forwarder {
    /// Carries packets until it is over, or an interface fails.
    pub fn run(&self) -> io::Result<()> {
        set_current_timer_slack(Some(TIMER_SLACK_NANOSECONDS))?;
        let mut vigil = Vigil::new(Instant::now());
        // A real network takes no processor from its hosts: neither may they make this one late.
        let mut precedence = (self.punctual && Urgency::most() == Urgency::BeforeOthers)
            .then(|| Precedence::new(Instant::now()));
        loop {
            let due = self.turn()?;
            let now = Instant::now();
            place(precedence.as_mut().and_then(|precedence| precedence.ran(now)));
            let Rest::Sleep(until) = vigil.rest(now, due) else {
                std::hint::spin_loop();
                continue;
            };
            let woken = self.wait(until)?;
            let now = Instant::now();
            place(precedence.as_mut().and_then(|precedence| precedence.rested(now)));
            match (woken, until) {
                (Woken::Over, _) => return Ok(()),
                (Woken::Time, Some(until)) => vigil.woken(until, now),
                (Woken::Time, None) | (Woken::Packet, _) => {}
            }
        }
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

    /// Sleeps until a packet comes in, or that time.
    fn wait(&self, until: Option<Instant>) -> io::Result<Woken> {
        let most = until.map(|at| timespec(at.saturating_duration_since(Instant::now())));
        let mut files = [PollFd::new(&self.from, PollFlags::IN), PollFd::new(&self.over, PollFlags::IN)];
        match poll(&mut files, most.as_ref()) {
            Ok(0) => Ok(Woken::Time),
            Ok(_) if !files[1].revents().is_empty() => Ok(Woken::Over),
            Ok(_) | Err(Errno::INTR) => Ok(Woken::Packet),
            Err(error) => Err(error.into()),
        }
    }
}

/// Why a wait ended.
enum Woken {
    /// The time has come.
    Time,
    /// There may be a packet.
    Packet,
    /// It is over.
    Over,
}

/// Puts the calling thread before others, or among them, if that changes.
fn place(before_others: Option<bool>) {
    match before_others {
        Some(true) => {
            Urgency::most();
        }
        Some(false) => {
            Urgency::among_others();
        }
        None => {}
    }
}

fn timespec(time: Duration) -> Timespec {
    // A time that is too long to say is a longest sleep.
    Timespec::try_from(time).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}
