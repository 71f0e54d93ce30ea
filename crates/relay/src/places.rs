//! ConnectionPlaces for connections, of which there are so many, and so many for one client. Knows no sockets.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::limits::CONNECTIONS_OF_ONE_CLIENT_MAX;

/// All places.
#[derive(Debug)]
pub struct ConnectionPlaces {
    most: usize,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of: HashMap<IpAddr, usize>,
}

/// A place for a connection, given back when this is dropped.
#[derive(Debug)]
pub struct Admitted {
    taken: Arc<Mutex<Taken>>,
    client: IpAddr,
}

impl ConnectionPlaces {
    /// So many.
    pub fn new(most: usize) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// A place for a connection of that client, if there is one.
    pub fn admit(&self, client: IpAddr) -> Option<Admitted> {
        let mut taken = self.taken.lock();
        let its = taken.of.get(&client).copied().unwrap_or(0);
        if taken.all >= self.most || its >= CONNECTIONS_OF_ONE_CLIENT_MAX {
            return None;
        }
        taken.all += 1;
        taken.of.insert(client, its + 1);
        Some(Admitted { taken: Arc::clone(&self.taken), client })
    }

    /// How many there may be.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How many are taken.
    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.taken.lock().all
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut taken = self.taken.lock();
        taken.all -= 1;
        if let Some(its) = taken.of.get_mut(&self.client) {
            *its -= 1;
            if *its == 0 {
                taken.of.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_has_its_part_and_all_have_no_more_than_there_may_be() {
        let all = ConnectionPlaces::new(CONNECTIONS_OF_ONE_CLIENT_MAX + 2);
        let client = |number| IpAddr::from([10, 0, 0, number]);
        let mut places: Vec<_> = (0..CONNECTIONS_OF_ONE_CLIENT_MAX)
            .map(|_| all.admit(client(1)).expect("there is place"))
            .collect();
        assert!(all.admit(client(1)).is_none(), "one client has its part");
        let others = [2, 3].map(|number| all.admit(client(number)).expect("there is place"));
        assert!(all.admit(client(4)).is_none(), "all places are taken");
        places.pop();
        assert!(all.admit(client(1)).is_some(), "one was given back");
        drop((places, others));
        assert_eq!(all.taken(), 0);
        assert!(all.taken.lock().of.is_empty());
    }
}
