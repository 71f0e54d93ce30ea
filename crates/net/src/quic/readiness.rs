//! What the thread waits for: its UDP socket, those who have something for it, and the ends of streams.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;

/// Events that are taken at once.
const EVENTS: usize = 64;

/// An epoll set that tells of each change once.
pub(super) struct Readiness {
    epoll: OwnedFd,
}

/// Something changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) token: u64,
    pub(super) readable: bool,
    pub(super) writable: bool,
}

/// Wakes the thread.
#[derive(Debug)]
pub(super) struct QuicWakeup(OwnedFd);

impl Readiness {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    pub(super) fn add(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(token), flags)?)
    }

    /// Waits for changes, for as long as that at most.
    pub(super) fn wait(&self, most: Option<Duration>, changes: &mut Vec<Change>) -> io::Result<()> {
        changes.clear();
        let most = most.and_then(|most| Timespec::try_from(most).ok());
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; EVENTS];
        let count = match epoll::wait(&self.epoll, &mut events[..], most.as_ref()) {
            Ok(count) => count,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        changes.extend(events[..count].iter().map(Change::of));
        Ok(())
    }
}

impl Change {
    fn of(event: &Event) -> Self {
        // `epoll_event` is packed on some machines: copy the fields before looking at them.
        let (flags, data) = (event.flags, event.data);
        let over = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        Self {
            token: data.u64(),
            readable: over || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
            writable: over || flags.contains(EventFlags::OUT),
        }
    }
}

impl QuicWakeup {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Wakes it.
    pub(super) fn wake(&self) {
        // The counter holds 2^64 - 2 of them: it cannot be full.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// It was woken.
    pub(super) fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8]);
    }
}

impl AsFd for QuicWakeup {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}
