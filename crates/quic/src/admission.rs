//! Who may connect: how many connections and handshakes there are, of one client and of all, and how many bytes each may hold.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::limits::{
    CONNECTION_WINDOW, CONNECTIONS_MAX, CONNECTIONS_OF_ONE_MAX, HANDSHAKES_MAX, HANDSHAKES_OF_ONE_MAX,
    UNPROVED_MAX, WINDOWS_BUDGET,
};

/// The least window: with it, calls still go.
const LEAST_WINDOW: u64 = 256 << 10;

/// What is done with a client that wants to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientJudgement {
    /// It may, with a window of so many bytes.
    Accept(u64),
    /// It must show first that it is where its packet says.
    Prove,
    /// It may not.
    Refuse,
}

/// The connections that there are.
#[derive(Debug, Default)]
pub struct QuicClients {
    clients: HashMap<IpAddr, OfOne>,
    connections: usize,
    handshakes: usize,
    windows: u64,
}

/// Those of one client.
#[derive(Debug, Clone, Copy, Default)]
struct OfOne {
    connections: usize,
    handshakes: usize,
}

impl QuicClients {
    /// What is done with a client; `is_proved`: it is where its packets say.
    pub fn judge(&self, client: SocketAddr, is_proved: bool) -> ClientJudgement {
        let of_it = self.clients.get(&one_client(client.ip())).copied().unwrap_or_default();
        if !is_proved && self.handshakes >= UNPROVED_MAX {
            return ClientJudgement::Prove;
        }
        let is_full = self.connections >= CONNECTIONS_MAX || self.handshakes >= HANDSHAKES_MAX;
        let has_its_part =
            of_it.connections >= CONNECTIONS_OF_ONE_MAX || of_it.handshakes >= HANDSHAKES_OF_ONE_MAX;
        if is_full || has_its_part {
            // Packets under another's address must not use up that one's part.
            return if is_proved { ClientJudgement::Refuse } else { ClientJudgement::Prove };
        }
        let left = WINDOWS_BUDGET.saturating_sub(self.windows);
        ClientJudgement::Accept((left / 4).clamp(LEAST_WINDOW, CONNECTION_WINDOW))
    }

    /// A handshake begins.
    pub fn begin(&mut self, client: SocketAddr, window: u64) {
        let of_it = self.clients.entry(one_client(client.ip())).or_default();
        of_it.connections += 1;
        of_it.handshakes += 1;
        self.connections += 1;
        self.handshakes += 1;
        self.windows += window;
    }

    /// The handshake of a client is done, or over.
    pub fn end_handshake(&mut self, client: SocketAddr) {
        self.handshakes = self.handshakes.saturating_sub(1);
        if let Some(of_it) = self.clients.get_mut(&one_client(client.ip())) {
            of_it.handshakes = of_it.handshakes.saturating_sub(1);
        }
    }

    /// A connection is over, of the client that began it.
    pub fn end(&mut self, client: SocketAddr, window: u64) {
        let client = one_client(client.ip());
        if let Some(of_it) = self.clients.get_mut(&client) {
            of_it.connections -= 1;
            if of_it.connections == 0 {
                self.clients.remove(&client);
            }
        }
        self.connections = self.connections.saturating_sub(1);
        self.windows = self.windows.saturating_sub(window);
    }

    /// Handshakes that are under way.
    pub fn handshakes(&self) -> usize {
        self.handshakes
    }
}

/// What counts as one client: an IPv4 address, but a network of 2^64 IPv6 addresses, which one host may have.
fn one_client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn client(number: usize) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::from_bits(number as u32).into(), 700)
    }

    fn connect(admitted: &mut QuicClients, number: usize) -> bool {
        let ClientJudgement::Accept(window) = admitted.judge(client(number), true) else { return false };
        admitted.begin(client(number), window);
        admitted.end_handshake(client(number));
        true
    }

    #[test]
    fn one_client_has_its_part_and_all_have_no_more_than_there_may_be() {
        let mut admitted = QuicClients::default();
        assert!((0..CONNECTIONS_OF_ONE_MAX).all(|_| connect(&mut admitted, 1)));
        assert!(!connect(&mut admitted, 1), "it has its part");
        assert_eq!(
            admitted.judge(client(1), false),
            ClientJudgement::Prove,
            "it may be another one's packet"
        );
        let others = CONNECTIONS_MAX - CONNECTIONS_OF_ONE_MAX;
        assert!((0..others).all(|number| connect(&mut admitted, 2 + number)));
        assert!(!connect(&mut admitted, 2 + others), "there is no more room");
        admitted.end(client(1), LEAST_WINDOW);
        assert!(connect(&mut admitted, 2 + others));
    }

    #[test]
    fn handshakes_have_a_bound_of_their_own() {
        let mut admitted = QuicClients::default();
        for number in 0..HANDSHAKES_MAX {
            let proved = number >= UNPROVED_MAX;
            assert_eq!(admitted.judge(client(number), false) == ClientJudgement::Prove, proved);
            admitted.begin(client(number), LEAST_WINDOW);
        }
        assert_eq!(admitted.judge(client(0), true), ClientJudgement::Refuse);
        admitted.end_handshake(client(0));
        assert!(matches!(admitted.judge(client(0), true), ClientJudgement::Accept(_)));
        assert_eq!(admitted.handshakes(), HANDSHAKES_MAX - 1);
    }

    #[test]
    fn one_client_has_a_part_of_the_handshakes() {
        let mut admitted = QuicClients::default();
        for _ in 0..HANDSHAKES_OF_ONE_MAX {
            assert!(matches!(admitted.judge(client(1), true), ClientJudgement::Accept(_)));
            admitted.begin(client(1), LEAST_WINDOW);
        }
        assert_eq!(admitted.judge(client(1), true), ClientJudgement::Refuse);
        assert!(matches!(admitted.judge(client(2), true), ClientJudgement::Accept(_)), "others are let in");
        admitted.end_handshake(client(1));
        assert!(matches!(admitted.judge(client(1), true), ClientJudgement::Accept(_)));
    }

    #[test]
    fn windows_shrink_as_connections_come() {
        let mut admitted = QuicClients::default();
        let mut windows = Vec::new();
        for number in 0..1000 {
            let ClientJudgement::Accept(window) = admitted.judge(client(number), true) else {
                panic!("{number}")
            };
            admitted.begin(client(number), window);
            admitted.end_handshake(client(number));
            windows.push(window);
        }
        assert_eq!((windows[0], windows[999]), (CONNECTION_WINDOW, LEAST_WINDOW));
        assert!(windows.is_sorted_by(|a, b| a >= b));
        assert!(windows.iter().sum::<u64>() <= WINDOWS_BUDGET + 1000 * LEAST_WINDOW);
    }
}
