//! A socket that is armed for more by one worker while events disarm it for others: in the end the poller knows all that is wanted.

use std::io;

use howdah_net::{Interest, Ready, Token};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread::{self, JoinHandle};

use crate::SCHEDULES;
use crate::armed::Armed;

/// A one-shot poller and the socket in it.
struct Socket {
    armed: Armed,
    known: Mutex<Interest>,
}

const NOTHING: Interest = Interest { readable: false, writable: false };
const WRITABLE: Interest = Interest { readable: false, writable: true };

impl Socket {
    fn new() -> Arc<Self> {
        Arc::new(Self { armed: Armed::readable(), known: Mutex::new(Interest::READABLE) })
    }

    fn tell(&self) -> impl Fn(Interest) -> io::Result<()> {
        |interest| {
            *self.known.lock().expect("nobody panics") = interest;
            Ok(())
        }
    }

    fn arm(&self, more: Interest) {
        self.armed.add(more, self.tell()).expect("a poller");
    }

    /// Something happens that the poller may know to be wanted: then it reports that, and the socket is disarmed.
    fn happens(&self, is_wanted: fn(&Interest) -> bool, ready: Ready) -> bool {
        let mut known = self.known.lock().expect("nobody panics");
        if !is_wanted(&known) {
            return false;
        }
        *known = NOTHING;
        drop(known);
        self.armed.on_event(ready, self.tell()).expect("a poller");
        true
    }

    fn known(&self) -> Interest {
        *self.known.lock().expect("nobody panics")
    }
}

fn ready(readable: bool, writable: bool) -> Ready {
    Ready { token: Token(1), readable, writable }
}

/// Replies do not all fit: the sender wants to know when more do.
fn blocks(socket: &Arc<Socket>) -> JoinHandle<()> {
    let socket = Arc::clone(socket);
    thread::spawn(move || socket.arm(WRITABLE))
}

/// Bytes come; the reader arms the socket for more.
fn reads(socket: &Arc<Socket>) -> JoinHandle<()> {
    let socket = Arc::clone(socket);
    thread::spawn(move || {
        if socket.happens(|known| known.readable, ready(true, false)) {
            socket.arm(Interest::READABLE);
        }
    })
}

/// The peer takes bytes, if anybody wants to know.
fn drains(socket: &Arc<Socket>) -> JoinHandle<bool> {
    let socket = Arc::clone(socket);
    thread::spawn(move || socket.happens(|known| known.writable, ready(false, true)))
}

#[test]
fn one_who_blocks_and_one_who_reads_are_both_told() {
    let model = || {
        let socket = Socket::new();
        let both = [blocks(&socket), reads(&socket)];
        both.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert!(socket.known().readable && socket.known().writable, "{:?}", socket.known());
    };
    shuttle::check_random(model, SCHEDULES);
}

#[test]
fn what_happened_disarms_that_alone() {
    let model = || {
        let socket = Socket::new();
        let (blocked, drained) = (blocks(&socket), drains(&socket));
        blocked.join().expect("no panic");
        let drained = drained.join().expect("no panic");
        assert!(socket.known().readable, "bytes that come wake somebody");
        assert!(drained || socket.known().writable, "room in the socket wakes somebody");
    };
    shuttle::check_dfs(model, None);
}

#[test]
fn three_at_once_lose_nothing() {
    let model = || {
        let socket = Socket::new();
        let (blocked, read, drained) = (blocks(&socket), reads(&socket), drains(&socket));
        blocked.join().expect("no panic");
        read.join().expect("no panic");
        let drained = drained.join().expect("no panic");
        assert!(socket.known().readable);
        assert!(drained || socket.known().writable);
    };
    shuttle::check_random(model, SCHEDULES);
}
