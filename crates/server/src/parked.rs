//! Calls that wait until the processors have nothing better to do: those of clients that have had more than their share. Clients
//! take turns.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::connection::Connection;
use crate::counts::Timing;
use crate::room::one_client;
use crate::turns::Turns;

/// A call that waits.
pub struct Call {
    /// Whose it is.
    pub connection: Arc<Connection>,
    /// Its message.
    pub message: Box<[u8]>,
    /// When it came.
    pub timing: Timing,
    /// Nothing more of the connection is read before it is done.
    pub is_last: bool,
}

/// All that wait. Each connection has two at most.
#[derive(Default)]
pub struct Parked {
    queue: Mutex<Queue>,
    came: Condvar,
}

#[derive(Default)]
struct Queue {
    turns: Turns<Call>,
    is_over: bool,
}

impl Parked {
    /// Another call.
    pub fn push(&self, call: Call) {
        let client = one_client(call.connection.peer().ends.client.ip());
        self.queue.lock().turns.push(client, call);
        self.came.notify_one();
    }

    /// The next one; waits until there is one. `None`: there will be no more.
    pub fn next(&self) -> Option<Call> {
        let mut queue = self.queue.lock();
        loop {
            if queue.is_over {
                return None;
            }
            if let Some(call) = queue.turns.pop() {
                return Some(call);
            }
            self.came.wait(&mut queue);
        }
    }

    /// A connection is gone: nobody waits any more for what it has asked for, which holds its descriptor.
    pub fn forget(&self, connection: &Connection) {
        let client = one_client(connection.peer().ends.client.ip());
        self.queue.lock().turns.forget(client, |call| call.connection.token() == connection.token());
    }

    /// No more are run.
    pub fn end(&self) {
        self.queue.lock().is_over = true;
        self.came.notify_all();
    }
}
