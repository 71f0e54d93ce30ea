//! A worker: waits for a socket, reads calls from it, runs them, sends the replies. No hop between threads.
//!
//! The socket that woke a worker wakes nobody else until it is armed again, so that the worker reads on alone. A call
//! that may wait for storage is run only after the connection has been handed on: then the next call is another
//! worker's. Calls that are expected to be quick are run in turn and answered together; should one of them hang, the
//! watch (`watch.rs`) hands the connection on in the worker's place.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once};
use std::time::Instant;

use howdah_net::{Pipe, Ready};
use howdah_rpc::server::BufferPool;

use super::WorkerSlot;
use crate::connection::Connection;
use crate::counts::{Clerk, Shard};
use crate::limits::DATAGRAM_MAX;
use crate::shared::{Shared, Source};
use crate::spare::Spare;

const EIO: i32 = rustix::io::Errno::IO.raw_os_error();
const EINVAL: i32 = rustix::io::Errno::INVAL.raw_os_error();
const EMFILE: i32 = rustix::io::Errno::MFILE.raw_os_error();
const ENFILE: i32 = rustix::io::Errno::NFILE.raw_os_error();

/// Connections accepted in one go before others get their turn.
const ACCEPT_BURST: usize = 16;

/// That file descriptors run out is worth a person's look, but not with every connection.
static SAID: Once = Once::new();

/// One worker.
pub struct Worker {
    pub(super) shared: Arc<Shared>,
    pub(super) slot: Arc<WorkerSlot>,
    pub(super) buffers: BufferPool,
    /// Counts what is done.
    pub(super) clerk: Clerk,
    /// Reply buffers to be used again.
    pub(super) spare: Spare,
    /// What a datagram is received into.
    pub(super) datagram: Vec<u8>,
    /// Carries data from sockets to files.
    pub(super) pipe: Option<Pipe>,
    /// The export that its last call was for, if others wait before its gate.
    pub(super) came_back: Option<u16>,
}

impl Worker {
    /// A worker.
    pub fn new(shared: Arc<Shared>) -> Self {
        let clerk = shared.service.dispatcher.counts.clerk();
        Self::with(shared, clerk)
    }

    /// What the watch sees of it.
    pub fn slot(&self) -> Arc<WorkerSlot> {
        Arc::clone(&self.slot)
    }

    /// Where the watch sees which export its call is for.
    pub fn shard(&self) -> Arc<Shard> {
        self.clerk.shard()
    }

    /// One that sockets do not wake.
    pub fn patient(shared: Arc<Shared>) -> Self {
        let clerk = shared.service.dispatcher.counts.clerk_beside();
        Self::with(shared, clerk)
    }

    fn with(shared: Arc<Shared>, clerk: Clerk) -> Self {
        let buffers = BufferPool::sharing(Arc::clone(&shared.buffers));
        let datagram = vec![0; DATAGRAM_MAX + 1];
        let spare = Spare::sharing(Arc::clone(&shared.service.dispatcher.long_buffers));
        let (slot, pipe, came_back) = Default::default();
        Self { shared, slot, buffers, clerk, spare, datagram, pipe, came_back }
    }

    /// Works until told to stop.
    pub fn run(mut self) {
        self.slot.run_on(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
        self.clerk.sit_down();
        self.serve_all();
        self.clerk.stand_up();
        // One wake reaches one worker: each that ends wakes the next.
        self.shared.waker.wake();
    }

    /// Until the server stops, or has enough without it.
    fn serve_all(&mut self) {
        while !self.shared.stopping.load(Ordering::SeqCst) && !self.shared.dismisses_one() {
            self.clerk.wait();
            match self.shared.poller.wait() {
                Ok(Some(ready)) => {
                    self.clerk.run();
                    self.shared.watch.wake();
                    self.on_ready(ready);
                    self.let_in();
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(%error, "waiting for sockets");
                    return;
                }
            }
        }
    }

    /// Something happened to a socket.
    pub fn on_ready(&mut self, ready: Ready) {
        match self.shared.source(ready.token) {
            Source::Connection(connection) => self.on_connection(&connection, ready),
            Source::Waker => {
                if let Some(connection) = self.shared.next_ready() {
                    let outcome = self.serve(&connection);
                    self.settle(&connection, outcome);
                }
            }
            Source::Listener(index) => self.accept(index),
            Source::Udp(port) => self.datagrams(&port),
            Source::Gone => {}
        }
    }

    fn on_connection(&mut self, connection: &Arc<Connection>, ready: Ready) {
        if let Err(error) = connection.on_event(&self.shared.poller, ready) {
            return self.shared.close(connection, &error);
        }
        if ready.writable {
            connection.unblock();
        }
        let outcome = if ready.readable { self.serve(connection) } else { self.flush(connection) };
        self.settle(connection, outcome);
    }

    /// Closes a connection that broke, and one whose client sends no more and has all its replies.
    pub(super) fn settle(&self, connection: &Connection, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            // What a socket never says: it comes from the file of a READ.
            if matches!(error.raw_os_error(), Some(EIO | EINVAL)) {
                tracing::warn!(%error, "sendfile failed; READ data is copied for a while");
                self.shared.service.ranges.doubt();
            }
            self.shared.close(connection, &error);
        } else if connection.is_over() {
            if connection.stream().has_ended_in_order() {
                self.shared.service.dispatcher.replies.end_in_order(connection.token(), Instant::now());
            }
            self.shared.close(connection, &"the client closed it");
        }
    }

    fn accept(&mut self, index: usize) {
        // Whether a connection has just given way for the next; one that a worker still uses does so a little later.
        let mut freed = false;
        for _ in 0..ACCEPT_BURST {
            match self.shared.accept(index) {
                Ok(Some(stream)) => {
                    freed = false;
                    if self.shared.turns_away(&stream) {
                        continue;
                    }
                    if let Err(error) = self.shared.add(stream) {
                        tracing::warn!(%error, "taking a connection in");
                    }
                }
                Ok(None) => break,
                Err(error) if !freed && lacks_descriptors(&error) && self.shared.free_descriptor() => {
                    freed = true;
                    SAID.call_once(|| {
                        tracing::warn!(%error, "accepting connections: idle ones are closed from now on; reported once");
                    });
                }
                Err(error) => {
                    // Out of file descriptors or memory: trying again at once would only burn the processor.
                    tracing::warn!(%error, "accepting a connection; trying again shortly");
                    self.shared.resting.lock().push(index);
                    return;
                }
            }
        }
        if let Err(error) = self.shared.arm_listener(index) {
            tracing::error!(%error, "arming a listener");
        }
    }
}

fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(EMFILE | ENFILE))
}
