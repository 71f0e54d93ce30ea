//! Readiness: one epoll set that all workers wait on, and a way to wake one of them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;

/// Says whose event it is; chosen by the caller that adds a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

/// What to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interest {
    /// Until something can be received.
    pub readable: bool,
    /// Until something can be sent.
    pub writable: bool,
}

/// What a socket is ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The socket's token.
    pub token: Token,
    /// Something can be received, or the peer has closed.
    pub readable: bool,
    /// Something can be sent, or the peer has closed.
    pub writable: bool,
}

/// An epoll set. Each socket in it is one-shot: an event goes to one worker, and no other comes before `arm`.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

/// Wakes one waiting thread.
#[derive(Debug)]
pub struct Waker {
    event: OwnedFd,
}

impl Poller {
    /// An empty set.
    pub fn new() -> io::Result<Self> {
        Ok(Self { epoll: epoll::create(CreateFlags::CLOEXEC)? })
    }

    /// Adds a socket, armed for `interest`.
    pub fn add(&self, socket: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(token.0), interest.flags())?)
    }

    /// Arms a socket again, for `interest` only.
    pub fn arm(&self, socket: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, socket, EventData::new_u64(token.0), interest.flags())?)
    }

    /// Takes a socket out: another set may wait for it from now on.
    pub fn remove(&self, socket: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Adds a waker, which stays armed. Edge-triggered: each wake goes to one thread, where a level would call up
    /// all that wait until the first has acknowledged it. Two wakes in quick succession may come as one.
    pub fn add_waker(&self, waker: &Waker, token: Token) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::ET;
        Ok(epoll::add(&self.epoll, &waker.event, EventData::new_u64(token.0), flags)?)
    }

    /// Waits for one event, as long as it takes.
    pub fn wait(&self) -> io::Result<Option<Ready>> {
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }];
        let forever: Option<&Timespec> = None;
        match epoll::wait(&self.epoll, &mut events[..], forever) {
            Ok(0) | Err(Errno::INTR) => Ok(None),
            Ok(_) => Ok(Some(Ready::new(&events[0]))),
            Err(error) => Err(error.into()),
        }
    }
}

impl Waker {
    /// A waker that has woken nobody yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self { event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)? })
    }

    /// Wakes one thread. Nobody takes the count back: its edge is what wakes.
    pub fn wake(&self) {
        // The counter holds 2^64 - 2 wakes: it cannot be full.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }
}

impl Interest {
    /// Until something can be received.
    pub const READABLE: Self = Self { readable: true, writable: false };
    /// For nothing, until armed again.
    pub const NONE: Self = Self { readable: false, writable: false };

    fn flags(self) -> EventFlags {
        let mut flags = EventFlags::ONESHOT;
        flags.set(EventFlags::IN | EventFlags::RDHUP, self.readable);
        flags.set(EventFlags::OUT, self.writable);
        flags
    }
}

impl Ready {
    fn new(event: &Event) -> Self {
        // `epoll_event` is packed on some machines: copy the fields before looking at them.
        let (flags, data) = (event.flags, event.data);
        let over = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        Self {
            token: Token(data.u64()),
            readable: over || flags.intersects(EventFlags::IN | EventFlags::RDHUP),
            writable: over || flags.contains(EventFlags::OUT),
        }
    }
}
