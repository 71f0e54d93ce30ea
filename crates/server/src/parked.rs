//! Calls that wait for threads of their own: until the processors have nothing better to do those of clients that have had more than
//! their share, and tokens of Kerberos until a helper is free. Clients take turns.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::connection::Connection;
use crate::counts::Timing;
use crate::gss::SecuredCall;
use crate::room::one_client;
use crate::turns::Turns;

/// A call that waits.
pub struct Call {
    /// Whose it is.
    pub connection: Arc<Connection>,
    /// Its message.
    pub message: Box<[u8]>,
    /// How it came through a context, if it did.
    pub secured: Option<SecuredCall>,
    /// When it came.
    pub timing: Timing,
    /// Nothing more of the connection is read before it is done.
    pub is_last: bool,
}

/// All that wait.
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
    /// Another call, of a client of that weight.
    pub fn push(&self, call: Call, weight: u32) {
        let client = one_client(call.connection.peer().ends.client.ip());
        self.queue.lock().turns.push(client, weight, call);
        self.came.notify_one();
    }

    /// Another call, unless its client has so many waiting, or there are so many in all; says whether it waits.
    pub fn push_within(&self, call: Call, (of_one_max, all_max): (usize, usize)) -> bool {
        let client = one_client(call.connection.peer().ends.client.ip());
        let mut queue = self.queue.lock();
        let has_room = queue.turns.of(client) < of_one_max && queue.turns.len() < all_max;
        if has_room {
            queue.turns.push(client, 1, call);
            self.came.notify_one();
        }
        has_room
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::tests::connected;
    use crate::counts::Moment;

    #[test]
    fn each_client_has_its_part_of_what_waits() {
        let (stream, _client) = connected();
        let connection = Arc::new(Connection::new(howdah_net::Token(9), stream));
        let parked = Parked::default();
        let waits = |within| {
            let timing = Timing { arrived: Moment::now(), received: 0, is_first: true };
            let (connection, message, secured) = (Arc::clone(&connection), Box::default(), None);
            parked.push_within(Call { connection, message, secured, timing, is_last: false }, within)
        };
        assert_eq!([(2, 9), (2, 9), (2, 9)].map(waits), [true, true, false], "two of one client");
        assert_eq!([(9, 3), (9, 3)].map(waits), [true, false], "three of all");
        assert!(parked.next().is_some());
        assert!(waits((9, 3)));
    }
}
