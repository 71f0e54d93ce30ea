//! A connection whose reading stops while too much waits to be sent: somebody reads on once it is gone, and nobody twice.

use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread::{self, JoinHandle};

use crate::SCHEDULES;
use crate::pausing::Pausing;

/// A connection, of which something waits to be sent.
struct Connection {
    pausing: Pausing,
    waiting: AtomicUsize,
    /// How many read on.
    reading: AtomicUsize,
}

impl Connection {
    fn full() -> Arc<Self> {
        Arc::new(Self { pausing: Pausing::new(), waiting: AtomicUsize::new(1), reading: AtomicUsize::new(0) })
    }

    fn is_full(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    fn read_on(&self) {
        self.reading.fetch_add(1, Ordering::SeqCst);
    }

    fn resume(&self) {
        if self.pausing.resume(|| self.is_full()) {
            self.read_on();
        }
    }

    fn reading(&self) -> usize {
        self.reading.load(Ordering::SeqCst)
    }
}

fn start(connection: &Arc<Connection>, work: fn(&Connection)) -> JoinHandle<()> {
    let connection = Arc::clone(connection);
    thread::spawn(move || work(&connection))
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
}

/// As a worker does between two calls.
fn reads(connection: &Connection) {
    let is_full = || connection.is_full();
    if !(connection.pausing.is_due(is_full) && connection.pausing.pause(is_full)) {
        connection.read_on();
    }
}

/// All replies go.
fn sends(connection: &Connection) {
    connection.waiting.store(0, Ordering::SeqCst);
    connection.resume();
}

/// Memory is not short any more.
fn lets_go(connection: &Connection) {
    connection.pausing.hold(false);
    connection.resume();
}

#[test]
fn reading_goes_on_once_replies_are_gone() {
    let model = || {
        let connection = Connection::full();
        join([start(&connection, reads), start(&connection, sends)]);
        assert_eq!(connection.reading(), 1);
    };
    shuttle::check_dfs(model, None);
}

#[test]
fn two_reasons_to_stop_and_one_who_reads_on() {
    let model = || {
        let connection = Connection::full();
        connection.pausing.hold(true);
        join([start(&connection, reads), start(&connection, sends), start(&connection, lets_go)]);
        assert_eq!(connection.reading(), 1);
        assert!(!connection.pausing.is_paused());
    };
    shuttle::check_random(model, SCHEDULES);
}

#[test]
fn of_two_who_read_one_goes_on() {
    let model = || {
        let connection = Connection::full();
        join([start(&connection, reads), start(&connection, reads), start(&connection, sends)]);
        assert!(connection.reading() >= 1);
        assert!(!connection.pausing.is_paused());
    };
    shuttle::check_random(model, SCHEDULES);
}
