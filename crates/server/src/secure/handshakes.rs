//! Handshakes that go on: no more than so many, and of one client no more than its part.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use crate::locks::Mutex;

use crate::limits::{HANDSHAKES_MAX, HANDSHAKES_OF_ONE_MAX};
use crate::room::one_client;

/// The handshakes that go on.
#[derive(Debug, Default)]
pub struct Handshakes(Mutex<HashMap<IpAddr, usize>>);

/// Lets one handshake go on. Where it is dropped, the handshake is over.
#[derive(Debug)]
pub struct Permit {
    handshakes: Arc<Handshakes>,
    client: IpAddr,
    /// When it began.
    pub began: Instant,
}

impl Handshakes {
    /// One more, of this client; `None`: there are too many.
    pub fn begin(self: &Arc<Self>, client: IpAddr, now: Instant) -> Option<Permit> {
        let client = one_client(client);
        let mut clients = self.0.lock();
        let (all, own) = (clients.values().sum::<usize>(), clients.get(&client).copied().unwrap_or(0));
        if all >= HANDSHAKES_MAX || own >= HANDSHAKES_OF_ONE_MAX {
            return None;
        }
        clients.insert(client, own + 1);
        drop(clients);
        Some(Permit { handshakes: Arc::clone(self), client, began: now })
    }

    /// How many go on.
    pub fn count(&self) -> usize {
        self.0.lock().values().sum()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut clients = self.handshakes.0.lock();
        if let Some(count) = clients.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                clients.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn one_client_has_its_part_and_all_have_no_more_than_there_may_be() {
        let (handshakes, now) = (Arc::<Handshakes>::default(), Instant::now());
        let client = |number: usize| IpAddr::V4(Ipv4Addr::from_bits(number as u32));
        let mut permits: Vec<Permit> =
            (0..HANDSHAKES_OF_ONE_MAX).map(|_| handshakes.begin(client(0), now).expect("its part")).collect();
        assert!(handshakes.begin(client(0), now).is_none(), "it has its part");
        for number in HANDSHAKES_OF_ONE_MAX..HANDSHAKES_MAX {
            permits.push(handshakes.begin(client(number), now).expect("there is room"));
        }
        assert!(handshakes.begin(client(1), now).is_none(), "there is no more room");
        permits.pop();
        assert!(handshakes.begin(client(1), now).is_some());
        permits.clear();
        assert_eq!(handshakes.count(), 0);
    }
}
