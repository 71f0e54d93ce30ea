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

    /// Another call, if its client has fewer waiting, and all have. Gives back the call that has no room: this one, or one of the
    /// client's connection that has most, so that no program keeps the others of its host out.
    pub fn push_within(&self, call: Call, (of_one_max, all_max): (usize, usize)) -> Option<Call> {
        let client = one_client(call.connection.peer().ends.client.ip());
        let mut queue = self.queue.lock();
        let mut gives_way = None;
        if queue.turns.of(client) >= of_one_max || queue.turns.len() >= all_max {
            let token = |call: &Call| call.connection.token().0;
            gives_way = queue.turns.take_from_most(client, token(&call), token);
            if gives_way.is_none() {
                return Some(call);
            }
        }
        queue.turns.push(client, 1, call);
        self.came.notify_one();
        gives_way
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
        let ends = [9, 10].map(|token| {
            let (stream, client) = connected();
            (Arc::new(Connection::new(howdah_net::Token(token), stream)), client)
        });
        let parked = Parked::default();
        let refused = |from: usize, within| {
            let timing = Timing { arrived: Moment::now(), received: 0, is_first: true };
            let (connection, message, secured) = (Arc::clone(&ends[from].0), Box::default(), None);
            let call = Call { connection, message, secured, timing, is_last: false };
            parked.push_within(call, within).map(|call| call.connection.token().0)
        };
        assert_eq!([(2, 9), (2, 9), (2, 9)].map(|within| refused(0, within)), [None, None, Some(9)]);
        assert_eq!([(9, 3), (9, 3)].map(|within| refused(0, within)), [None, Some(9)], "three of all");
        assert_eq!([1, 1, 1].map(|from| refused(from, (3, 9))), [Some(9), Some(10), Some(10)]);
        assert!(parked.next().is_some());
        assert_eq!(refused(0, (9, 3)), None);
    }
}
