//! How much more than it sent an address is told in datagrams, before a handle has shown that it is a client: the address on a
//! datagram may be somebody else's, whom the answer would flood. Knows neither sockets nor the clock.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::limits::{EXCESS_ADDRESSES_MAX, EXCESS_BURST, EXCESS_RATE};
use crate::room::one_client;

/// How often addresses are looked through, at most, while there is no room.
const SWEEP_EVERY: Duration = Duration::from_millis(50);

/// What addresses were told of late beyond what they sent.
#[derive(Debug, Default)]
pub struct Excess {
    told: Mutex<Addresses>,
}

#[derive(Debug, Default)]
struct Addresses {
    told: HashMap<IpAddr, Told>,
    /// When it was last looked through for what is forgotten.
    swept: Option<Instant>,
}

impl Addresses {
    /// Makes room, if there is any to be made and it was not tried just now: forged addresses shall not keep everybody waiting.
    fn sweep(&mut self, now: Instant) {
        if self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= SWEEP_EVERY) {
            self.swept = Some(now);
            self.told.retain(|_, told| told.left(now) > 0);
        }
    }
}

/// What one was told.
#[derive(Debug, Clone, Copy)]
struct Told {
    bytes: u64,
    at: Instant,
}

impl Told {
    /// What of it still counts.
    fn left(self, now: Instant) -> u64 {
        let forgotten = now.saturating_duration_since(self.at).as_millis() as u64 * EXCESS_RATE / 1000;
        self.bytes.saturating_sub(forgotten)
    }
}

impl Excess {
    /// Whether an answer that is so many bytes longer than its call may go there; if so it counts.
    pub fn allows(&self, client: IpAddr, bytes: usize, now: Instant) -> bool {
        if bytes == 0 {
            return true;
        }
        let client = one_client(client);
        let mut addresses = self.told.lock();
        let before = addresses.told.get(&client).map_or(0, |told| told.left(now));
        if before > 0 && before + bytes as u64 > EXCESS_BURST {
            return false;
        }
        if before == 0 && addresses.told.len() >= EXCESS_ADDRESSES_MAX {
            addresses.sweep(now);
            // So many at a time are no clients.
            if addresses.told.len() >= EXCESS_ADDRESSES_MAX {
                return false;
            }
        }
        addresses.told.insert(client, Told { bytes: before + bytes as u64, at: now });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long it takes until a whole burst is forgotten.
    const FORGOTTEN: Duration = Duration::from_secs(EXCESS_BURST / EXCESS_RATE);

    fn address(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    #[test]
    fn an_address_is_told_a_burst_and_then_as_much_as_the_rate_lets_it() {
        let (excess, start) = (Excess::default(), Instant::now());
        let list = EXCESS_BURST as usize / 4;
        for _ in 0..4 {
            assert!(excess.allows(address(1), list, start));
        }
        assert!(!excess.allows(address(1), 1, start), "one byte past the burst");
        assert!(excess.allows(address(1), 0, start), "what is no longer than its call always goes");
        assert!(excess.allows(address(2), list, start), "another address is another client");
        assert!(excess.allows(address(1), list, start + FORGOTTEN / 4 + Duration::from_millis(1)));
        assert!(excess.allows(address(1), list * 4, start + FORGOTTEN * 3));
    }

    #[test]
    fn a_list_longer_than_a_burst_goes_once() {
        let (excess, start) = (Excess::default(), Instant::now());
        assert!(excess.allows(address(1), EXCESS_BURST as usize * 2, start));
        assert!(!excess.allows(address(1), 1, start + FORGOTTEN));
        assert!(excess.allows(address(1), 1, start + FORGOTTEN * 2));
    }

    #[test]
    fn no_more_addresses_are_remembered_than_there_is_room_for() {
        let (excess, start) = (Excess::default(), Instant::now());
        for number in 0..EXCESS_ADDRESSES_MAX as u32 {
            assert!(excess.allows(address(number), 1000, start));
        }
        assert!(!excess.allows(address(u32::MAX), 1, start), "the one past the last");
        assert!(excess.allows(address(u32::MAX), 1, start + FORGOTTEN), "until the others are forgotten");
    }
}
