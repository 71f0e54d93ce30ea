//! A queue in which clients take turns, however much one of them asks for.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;

/// What clients wait for.
pub struct Turns<T> {
    waiting: HashMap<IpAddr, VecDeque<T>>,
    /// Clients that wait for something, each once, and how much of its turn each has left.
    order: VecDeque<Place>,
}

/// A client that waits for its turn.
struct Place {
    client: IpAddr,
    weight: u32,
    left: u32,
}

impl<T> Turns<T> {
    /// A client waits for one more. In each of its turns it gets as many as its weight says.
    pub fn push(&mut self, client: IpAddr, weight: u32, one: T) {
        let mine = self.waiting.entry(client).or_default();
        if mine.is_empty() {
            let weight = weight.max(1);
            self.order.push_back(Place { client, weight, left: weight });
        }
        mine.push_back(one);
    }

    /// The next one.
    pub fn pop(&mut self) -> Option<T> {
        let mut place = self.order.pop_front()?;
        let mine = self.waiting.get_mut(&place.client)?;
        let one = mine.pop_front();
        place.left -= 1;
        if mine.is_empty() {
            self.waiting.remove(&place.client);
        } else if place.left > 0 {
            self.order.push_front(place);
        } else {
            place.left = place.weight;
            self.order.push_back(place);
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

    /// Takes back the last of what a client waits for by the key that most of it has, if `key` has less of it with one more.
    pub fn take_from_most<K: Ord + Copy>(
        &mut self,
        client: IpAddr,
        key: K,
        of: impl Fn(&T) -> K,
    ) -> Option<T> {
        let mine = self.waiting.get_mut(&client)?;
        let mut counts = BTreeMap::from([(key, 1_usize)]);
        mine.iter().for_each(|one| *counts.entry(of(one)).or_default() += 1);
        let (&most, &count) = counts.iter().max_by_key(|&(_, count)| count)?;
        let last = mine.iter().rposition(|one| of(one) == most)?;
        (count > counts[&key]).then(|| mine.remove(last)).flatten()
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
            self.order.retain(|other| other.client != client);
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
        (0..4).for_each(|number| turns.push(client(1), 1, (1, number)));
        (0..2).for_each(|number| turns.push(client(2), 1, (2, number)));
        turns.push(client(3), 1, (3, 0));
        assert_eq!((turns.of(client(1)), turns.of(client(4))), (4, 0));
        let order: Vec<(u8, u8)> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(order, [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2), (1, 3)]);
        assert!(turns.waiting.is_empty() && turns.is_empty());
        turns.push(client(1), 1, (1, 4));
        assert_eq!(turns.pop(), Some((1, 4)));
    }

    #[test]
    fn a_client_gets_as_many_in_its_turn_as_its_weight_says() {
        let mut turns = Turns::default();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        (0..5).for_each(|number| turns.push(client(1), 3, (1, number)));
        (0..3).for_each(|number| turns.push(client(2), 1, (2, number)));
        let order: Vec<(u8, u8)> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(order, [(1, 0), (1, 1), (1, 2), (2, 0), (1, 3), (1, 4), (2, 1), (2, 2)]);
        assert!(turns.waiting.is_empty() && turns.is_empty());
    }

    #[test]
    fn who_has_most_waiting_gives_way() {
        let mut turns = Turns::default();
        let client = IpAddr::from([192, 0, 2, 1]);
        for one in ["a1", "a2", "a3", "b1"] {
            turns.push(client, 1, one);
        }
        let mut take = |key| turns.take_from_most(client, key, |one| one.as_bytes()[0]);
        assert_eq!([take(b'c'), take(b'a'), take(b'b'), take(b'c')], [Some("a3"), None, None, Some("a2")]);
        assert_eq!(turns.take_from_most(client, b'c', |one| one.as_bytes()[0]), None, "each has one");
        let left: Vec<&str> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(left, ["a1", "b1"]);
        assert_eq!(turns.take_from_most(client, b'c', |one| one.as_bytes()[0]), None);
    }

    #[test]
    fn what_is_forgotten_takes_no_turn() {
        let mut turns = Turns::default();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        (0..4).for_each(|number| turns.push(client(1), 1, number));
        turns.push(client(2), 1, 4);
        turns.forget(client(1), |number| number % 2 == 0);
        turns.forget(client(2), |_| true);
        turns.forget(client(3), |_| true);
        let order: Vec<IpAddr> = turns.order.iter().map(|place| place.client).collect();
        assert_eq!(order, [client(1)]);
        let left: Vec<u8> = std::iter::from_fn(|| turns.pop()).collect();
        assert_eq!(left, [1, 3]);
    }
}
