//! Who gives way when there is no place for another connection, or no memory for what is half received. Knows no sockets: its
//! callers say enough of each.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use howdah_net::Token;

use crate::limits::{CONNECTIONS_MAX, RECEIVE_MEMORY_BUDGET};

/// A connection, as far as this is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Whose it is.
    pub client: IpAddr,
    /// No call of it runs, and no reply waits.
    pub idle: bool,
    /// Calls that came over it so far.
    pub calls: u64,
    /// Its name; older ones have lower ones.
    pub token: Token,
}

/// The connection to close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhoGoes {
    /// Its name.
    pub token: Token,
    /// Nobody misses it.
    pub idle: bool,
    /// How many connections its client has.
    pub of: usize,
}

/// Of the client that has most, the connection to close: an idle one before others, then the one with fewest calls, then
/// the oldest.
pub fn who_gives_way(places: &[Place]) -> Option<WhoGoes> {
    let mut counts: HashMap<IpAddr, usize> = HashMap::new();
    for place in places {
        *counts.entry(one_client(place.client)).or_default() += 1;
    }
    let (greediest, of) = counts.into_iter().max_by_key(|&(client, count)| (count, client))?;
    let of_greediest = places.iter().filter(|place| one_client(place.client) == greediest);
    let first = of_greediest.min_by_key(|place| (!place.idle, place.calls, place.token))?;
    Some(WhoGoes { token: first.token, idle: first.idle, of })
}

/// Whether there is a place for one more.
pub fn has_place(connections: usize) -> bool {
    connections < CONNECTIONS_MAX
}

/// What a connection holds for a record that is half received.
#[derive(Debug, Clone, Copy)]
pub struct Holding {
    /// Bytes of memory.
    pub memory: usize,
    /// For how long.
    pub age: Duration,
}

/// The connections, by their index, that must go until the rest fits the budget: those that move least, and hold most, first.
pub fn who_gives_memory_back(held: &[Holding]) -> Vec<usize> {
    let mut total: usize = held.iter().map(|holding| holding.memory).sum();
    let mut order: Vec<usize> = (0..held.len()).collect();
    if total > RECEIVE_MEMORY_BUDGET {
        order.sort_by_key(|&index| Reverse((held[index].age, held[index].memory)));
    }
    let goes = |index: &usize| {
        let goes = total > RECEIVE_MEMORY_BUDGET;
        total -= held[*index].memory * usize::from(goes);
        goes
    };
    order.into_iter().take_while(goes).collect()
}

/// What counts as one client: an IPv4 address, but 2^64 IPv6 addresses, since a host chooses the lower half of its own
/// (RFC 4291 2.5.1) and may take as many as it likes.
pub fn one_client(address: IpAddr) -> IpAddr {
    const NETWORK: u128 = u128::MAX << 64;
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(token: u64, client: &str, idle: bool, calls: u64) -> Place {
        Place { client: client.parse().expect("an address"), idle, calls, token: Token(token) }
    }

    fn gives_way(places: &[Place]) -> Option<u64> {
        who_gives_way(places).map(|choice| choice.token.0)
    }

    #[test]
    fn the_client_that_has_most_gives_an_idle_connection_with_fewest_calls() {
        assert_eq!(gives_way(&[]), None);
        let mut places = vec![
            place(1, "192.0.2.1", true, 0),
            place(2, "192.0.2.2", false, 3),
            place(3, "192.0.2.2", true, 5),
            place(4, "192.0.2.2", true, 4),
            place(5, "192.0.2.2", true, 4),
        ];
        assert_eq!(who_gives_way(&places), Some(WhoGoes { token: Token(4), idle: true, of: 4 }));
        places.iter_mut().for_each(|place| place.idle = false);
        assert_eq!(gives_way(&places), Some(2), "none is idle");
    }

    #[test]
    fn addresses_that_one_host_may_choose_among_are_one_client() {
        let many = |count: u64, network: &str| -> Vec<Place> {
            (0..count).map(|at| place(at, &format!("{network}::{at:x}"), true, 9)).collect()
        };
        let others = [place(100, "2001:db8:0:2::1", true, 1), place(101, "2001:db8:0:2::1", true, 1)];
        assert_eq!(gives_way(&[&others[..], &many(3, "2001:db8:0:1")].concat()), Some(0));
        let apart = [place(1, "2001:db8:0:1::1", true, 1), place(2, "2001:db8:0:3::1", true, 1)];
        assert_eq!(gives_way(&[&others[..], &apart].concat()), Some(100), "two networks are two clients");
        let mapped = [place(1, "::ffff:192.0.2.1", true, 7), place(2, "::ffff:192.0.2.2", true, 7)];
        assert_eq!(
            gives_way(&[&others[..], &mapped].concat()),
            Some(100),
            "IPv4 addresses are not one network"
        );
    }

    #[test]
    fn a_place_is_freed_for_the_one_past_the_last() {
        assert!(has_place(CONNECTIONS_MAX - 1));
        assert!(!has_place(CONNECTIONS_MAX), "that one takes another's place");
    }

    #[test]
    fn those_that_move_least_give_their_memory_back_one_byte_past_the_budget() {
        let holding = |memory, seconds| Holding { memory, age: Duration::from_secs(seconds) };
        let half = RECEIVE_MEMORY_BUDGET / 2;
        let mut held = vec![holding(half, 1), holding(half - 9, 5), holding(4, 9), holding(5, 9)];
        assert_eq!(who_gives_memory_back(&held), [0; 0], "as much as there may be");
        held.push(holding(1, 0));
        assert_eq!(who_gives_memory_back(&held), [3], "of two that are as old, the larger");
        held.push(holding(half, 0));
        assert_eq!(who_gives_memory_back(&held), [3, 2, 1, 0], "until the rest fits");
    }
}
