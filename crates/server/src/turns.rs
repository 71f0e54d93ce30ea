//! A queue in which clients take turns, however much one of them asks for.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// What clients wait for.
pub struct Turns<T> {
    waiting: HashMap<IpAddr, VecDeque<T>>,
    /// Those who wait for something, each once.
    order: VecDeque<IpAddr>,
}

impl<T> Turns<T> {
    /// A client waits for one more.
    pub fn push(&mut self, client: IpAddr, one: T) {
        let mine = self.waiting.entry(client).or_default();
        if mine.is_empty() {
            self.order.push_back(client);
        }
        mine.push_back(one);
    }

    /// The next one.
    pub fn pop(&mut self) -> Option<T> {
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

    /// How many a client waits for.
    pub fn of(&self, client: IpAddr) -> usize {
        self.waiting.get(&client).map_or(0, VecDeque::len)
    }

    /// How many all clients wait for.
    pub fn len(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Forgets some of what a client waits for.
    pub fn forget(&mut self, client: IpAddr, is_gone: impl FnMut(&T) -> bool) {
        let mut is_gone = is_gone;
        let Some(mine) = self.waiting.get_mut(&client) else { return };
        mine.retain(|one| !is_gone(one));
        if mine.is_empty() {
            self.waiting.remove(&client);
            self.order.retain(|other| *other != client);
        }
    }
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), order: VecDeque::new() }
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
        assert_eq!((turns.of(client(1)), turns.of(client(4))), (4, 0));
        let order: Vec<(u8, u8)> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(order, [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2), (1, 3)]);
        assert!(turns.waiting.is_empty() && turns.is_empty());
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
