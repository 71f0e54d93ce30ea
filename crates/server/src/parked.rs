//! Calls that wait until the processors have nothing better to do: those of clients that have had more than their share. Clients
//! take turns.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::connection::Connection;
use crate::counts::Timing;
use crate::room::one_client;

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
    queue: Mutex<Turns<Call>>,
    came: Condvar,
}

/// What clients wait for.
struct Turns<T> {
    waiting: HashMap<IpAddr, VecDeque<T>>,
    /// Those who wait for something, each once.
    order: VecDeque<IpAddr>,
    is_over: bool,
}

impl Parked {
    /// Another call.
    pub fn push(&self, call: Call) {
        let client = one_client(call.connection.peer().client.ip());
        self.queue.lock().push(client, call);
        self.came.notify_one();
    }

    /// The next one; waits until there is one. `None`: there will be no more.
    pub fn next(&self) -> Option<Call> {
        let mut queue = self.queue.lock();
        loop {
            if queue.is_over {
                return None;
            }
            if let Some(call) = queue.pop() {
                return Some(call);
            }
            self.came.wait(&mut queue);
        }
    }

    /// A connection is gone: nobody waits any more for what it has asked for, which holds its descriptor.
    pub fn forget(&self, connection: &Connection) {
        let client = one_client(connection.peer().client.ip());
        self.queue.lock().forget(client, |call| call.connection.token() == connection.token());
    }

    /// No more are run.
    pub fn end(&self) {
        self.queue.lock().is_over = true;
        self.came.notify_all();
    }
}

impl<T> Turns<T> {
    fn push(&mut self, client: IpAddr, one: T) {
        let mine = self.waiting.entry(client).or_default();
        if mine.is_empty() {
            self.order.push_back(client);
        }
        mine.push_back(one);
    }

    fn forget(&mut self, client: IpAddr, is_gone: impl Fn(&T) -> bool) {
        let Some(mine) = self.waiting.get_mut(&client) else { return };
        mine.retain(|one| !is_gone(one));
        if mine.is_empty() {
            self.waiting.remove(&client);
            self.order.retain(|other| *other != client);
        }
    }

    fn pop(&mut self) -> Option<T> {
        let client = self.order.pop_front()?;
        let mine = self.waiting.get_mut(&client)?;
        let one = mine.pop_front();
        if mine.is_empty() {
            self.waiting.remove(&client);
        } else {
            self.order.push_back(client);
        }
        one
    }
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), order: VecDeque::new(), is_over: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_take_turns_however_much_one_of_them_asks_for() {
        let mut turns = Turns::default();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        (0..4).for_each(|number| turns.push(client(1), (1, number)));
        (0..2).for_each(|number| turns.push(client(2), (2, number)));
        turns.push(client(3), (3, 0));
        let order: Vec<(u8, u8)> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(order, [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2), (1, 3)]);
        assert!(turns.waiting.is_empty() && turns.order.is_empty());
        turns.push(client(1), (1, 4));
        assert_eq!(turns.pop(), Some((1, 4)));
    }

    #[test]
    fn what_is_forgotten_takes_no_turn() {
        let mut turns = Turns::default();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        (0..4).for_each(|number| turns.push(client(1), number));
        turns.push(client(2), 4);
        turns.forget(client(1), |number| number % 2 == 0);
        turns.forget(client(2), |_| true);
        turns.forget(client(3), |_| true);
        assert_eq!(turns.order, [client(1)]);
        let left: Vec<u8> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(left, [1, 3]);
    }
}
