//! The receive side of a connection: its bytes on their way to records, and who may take them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::locks::Mutex;
use howdah_net::{Sent, Stream};
use howdah_rpc::server::{Assembly, BufferPool, Poll, Record, StreamError};

use crate::counts::Moment;
use crate::limits::{BULK_PATIENCE, RECORD_MAX, SLOW_STORAGE};
use crate::secure::HANDSHAKE;

/// What there is to do for one who asks.
#[derive(Debug)]
pub enum NextRecord {
    /// A whole record, which counts as a call that runs, and when it was whole.
    Record(Record, Moment),
    /// More bytes are needed.
    More,
    /// Nothing: another worker moves data from the socket to a file, and goes on with the connection itself.
    Moving,
}

/// What a receive brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Bytes, and perhaps there are more.
    Some,
    /// All that there was.
    All,
    /// Nothing now.
    Nothing,
    /// The peer sends no more.
    End,
    /// Another worker moves data.
    Moving,
}

/// The receive side.
pub struct Inbox {
    /// `None` while a worker moves data: nobody else may receive, and nobody waits for it either.
    assembly: Mutex<Option<Assembly>>,
    received: AtomicU64,
    /// When something was received last, in nanoseconds of [`Moment`]; changed under the lock.
    arrived: AtomicU64,
    /// Records taken, counted under the lock: once a record is not here any more, it is seen that a call runs.
    records: AtomicU64,
    /// Until when data is received into memory, because the storage is slow.
    slow_until: Mutex<Option<Instant>>,
}

impl Inbox {
    /// Nothing received yet.
    pub fn new() -> Self {
        Self {
            assembly: Mutex::new(Some(Assembly::new(RECORD_MAX))),
            received: AtomicU64::new(0),
            arrived: AtomicU64::new(0),
            records: AtomicU64::new(0),
            slow_until: Mutex::new(None),
        }
    }

    /// The next whole record that is here.
    pub fn next(&self) -> Result<NextRecord, StreamError> {
        let mut assembly = self.assembly.lock();
        let Some(assembly) = assembly.as_mut() else { return Ok(NextRecord::Moving) };
        Ok(match assembly.poll()? {
            Poll::Record(record) => {
                self.records.fetch_add(1, Ordering::SeqCst);
                NextRecord::Record(record, Moment::at(self.arrived.load(Ordering::Relaxed)))
            }
            Poll::More => NextRecord::More,
        })
    }

    /// Receives what there is room for. If the first byte of all is that of TLS, TLS begins with what came.
    pub fn receive(
        &self,
        stream: &Stream,
        buffers: &mut BufferPool,
        begin_tls: impl FnOnce(&[u8]) -> std::io::Result<()>,
    ) -> std::io::Result<Received> {
        let mut assembly = self.assembly.lock();
        let Some(assembly) = assembly.as_mut() else { return Ok(Received::Moving) };
        // Another worker, to which the watch gave the connection, has received since this one looked for a record.
        if assembly.is_unread() {
            return Ok(Received::Some);
        }
        let buffer = assembly.buffer(buffers);
        let room = buffer.len();
        match stream.receive(buffer)? {
            Sent::Bytes(0) => Ok(Received::End),
            Sent::Bytes(count) => {
                let before = self.received.fetch_add(count as u64, Ordering::Relaxed);
                if before == 0 && buffer[0] == HANDSHAKE {
                    return begin_tls(&buffer[..count]).map(|()| Received::Some);
                }
                assembly.received(count);
                // Once a receive: all calls that it completes were complete then.
                self.arrived.store(Moment::now().nanoseconds(), Ordering::Relaxed);
                let is_all = count < room && !stream.keeps_bytes();
                Ok(if is_all { Received::All } else { Received::Some })
            }
            Sent::WouldBlock => {
                assembly.rest(buffers);
                Ok(Received::Nothing)
            }
        }
    }

    /// Does something between two records, while nobody can receive; `None`: bytes of another record are here.
    pub fn at_rest<T>(&self, act: impl FnOnce() -> T) -> Option<T> {
        let assembly = self.assembly.lock();
        let is_at_rest = assembly.as_ref().is_some_and(|assembly| !assembly.is_partial());
        is_at_rest.then(act)
    }

    /// Nothing more to receive for now: holds on to little memory.
    pub fn rest(&self, buffers: &mut BufferPool) {
        if let Some(assembly) = self.assembly.lock().as_mut() {
            assembly.rest(buffers);
        }
    }

    /// Whether part of a call is here and the rest is awaited. Waits for nobody: the thread that has the receive side now is
    /// receiving.
    pub fn is_in_mid_call(&self) -> bool {
        let Some(assembly) = self.assembly.try_lock() else { return true };
        assembly.as_ref().is_none_or(Assembly::is_partial)
    }

    /// Whether bytes are at hand that belong to no finished record; not while a worker moves data.
    pub fn is_partial(&self) -> bool {
        self.assembly.lock().as_ref().is_some_and(Assembly::is_partial)
    }

    /// Whether a record has started, and the memory that it holds; `None` while a worker receives or moves.
    pub fn holdings(&self) -> Option<(bool, usize)> {
        let assembly = self.assembly.try_lock()?;
        assembly.as_ref().map(|assembly| (assembly.is_partial(), assembly.memory()))
    }

    /// Takes the assembly out, to move the rest of a record of at least `length` bytes from the socket past it; `None`
    /// if there is no such record, or it is not to be done now.
    pub fn start_move(&self, length: usize) -> Option<Assembly> {
        let mut assembly = self.assembly.lock();
        let partial = assembly.as_ref()?.partial()?;
        if partial.length < length || self.slow_until.lock().is_some_and(|until| Instant::now() < until) {
            return None;
        }
        assembly.take()
    }

    /// A call runs whose data is moved: it counts like a record taken.
    pub fn start_moved_call(&self, length: usize) {
        self.received.fetch_add(length as u64, Ordering::Relaxed);
        self.records.fetch_add(1, Ordering::SeqCst);
    }

    /// Puts the assembly back, after a move that took so long.
    pub fn end_move(&self, assembly: Assembly, took: Duration) {
        if took > BULK_PATIENCE {
            *self.slow_until.lock() = Some(Instant::now() + SLOW_STORAGE);
        }
        *self.assembly.lock() = Some(assembly);
    }

    /// Bytes received so far.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Records taken so far.
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use howdah_wire::rpc::RecordMark;

    use super::*;
    use crate::connection::tests::connected;

    #[test]
    fn a_second_receiver_does_not_take_a_whole_record_for_the_end() {
        // Long enough to be received up to its end and not beyond, which leaves the second receiver no room.
        const LENGTH: usize = 40 << 10;
        let (stream, mut client) = connected();
        let (inbox, mut buffers) = (Inbox::new(), BufferPool::new(RECORD_MAX));
        let mark = RecordMark { length: LENGTH as u32, last: true };
        client.write_all(&[&mark.to_bytes()[..], &[7; LENGTH]].concat()).expect("sending");
        while stream.waiting().expect("a socket") < RecordMark::SIZE + LENGTH {}
        let record = loop {
            match inbox.next().expect("a record") {
                NextRecord::Record(record, _) => break record,
                NextRecord::More => {
                    inbox.receive(&stream, &mut buffers, |_| Ok(())).expect("a socket");
                    let second = inbox.receive(&stream, &mut buffers, |_| Ok(())).expect("a socket");
                    assert_eq!(second, Received::Some, "there is something to look at");
                }
                NextRecord::Moving => unreachable!("nobody moves"),
            }
        };
        assert_eq!(record.bytes().len(), LENGTH);
    }
}
