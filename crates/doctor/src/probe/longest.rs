//! The longest packet that passes both ways without being cut, found by sending some.

use std::io;
use std::time::Duration;

use howdah_net::Echoed;

use super::Bouncing;
use crate::facts::{MtuFacts, TooLargePacket};

/// What every path carries (RFC 791: 576; RFC 8200 5: 1280, which is looked for from below all the same).
const LEAST: usize = 576;
/// How often one of a length is sent before it counts as lost: nothing but length loses so many in a row.
const TRIES: u16 = 4;
/// What is waited for one beyond twice the round trip.
const BEYOND: Duration = Duration::from_millis(60);

/// Looks, from what the kernel believes downwards.
///
/// # Errors
/// The kernel does not send them.
pub fn longest(echo: &dyn Bouncing, believed: usize, round_trip: Duration) -> io::Result<MtuFacts> {
    let mut look = Look { echo, patience: round_trip * 2 + BEYOND, number: 0 };
    let facts = |passes: Option<usize>, too_large| MtuFacts {
        believed: believed as u64,
        passes: passes.map(|bytes| bytes as u64),
        too_large,
        arrives_there: None,
    };
    match look.one(believed)? {
        Fate::Passes => return Ok(facts(Some(believed), TooLargePacket::None)),
        Fate::TooLarge => {
            let path_mtu = echo.path_mtu().filter(|path_mtu| *path_mtu < believed);
            // The announced size passes, or there is a second narrow place behind the first, which is looked for.
            if let Some(path_mtu) = path_mtu
                && look.one(path_mtu)? == Fate::Passes
            {
                return Ok(facts(Some(path_mtu), TooLargePacket::Told));
            }
        }
        Fate::Vanishes => {}
    }
    let mut is_told = false;
    let passes = largest(LEAST.min(believed), believed, |length| {
        let fate = look.one(length)?;
        is_told |= fate == Fate::TooLarge;
        Ok(fate == Fate::Passes)
    })?;
    Ok(facts(passes, if is_told { TooLargePacket::Told } else { TooLargePacket::Vanishes }))
}

/// Whether a packet of that length arrives; the answer to it is to be short.
///
/// # Errors
/// The kernel does not send it.
pub fn arrives(echo: &dyn Bouncing, length: usize, round_trip: Duration) -> io::Result<bool> {
    Ok(Look { echo, patience: round_trip * 2 + BEYOND, number: 0 }.one(length)? == Fate::Passes)
}

/// The largest length from `low` on, below `high`, that passes, where every shorter one does. `None`: not even `low` does.
fn largest(
    low: usize,
    high: usize,
    mut passes: impl FnMut(usize) -> io::Result<bool>,
) -> io::Result<Option<usize>> {
    if !passes(low)? {
        return Ok(None);
    }
    let (mut low, mut high) = (low, high);
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        if passes(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(Some(low))
}

/// What became of packets of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passes,
    TooLarge,
    Vanishes,
}

struct Look<'a> {
    echo: &'a dyn Bouncing,
    patience: Duration,
    number: u16,
}

impl Look<'_> {
    fn one(&mut self, length: usize) -> io::Result<Fate> {
        for _ in 0..TRIES {
            self.number = self.number.wrapping_add(1);
            match self.echo.send(self.number, length) {
                Ok(()) => {}
                Err(error) if howdah_net::is_too_large(&error) => return Ok(Fate::TooLarge),
                Err(error) => return Err(error),
            }
            match self.echo.receive_number(self.number, self.patience)? {
                Echoed::Came(_) => return Ok(Fate::Passes),
                Echoed::TooLarge => return Ok(Fate::TooLarge),
                Echoed::Nothing => {}
            }
        }
        Ok(Fate::Vanishes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_that_passes_is_found_in_few_steps() {
        for limit in [576, 577, 1400, 1472, 1499] {
            let mut steps = 0;
            let found = largest(576, 1500, |length| {
                steps += 1;
                Ok(length <= limit)
            });
            assert_eq!(found.expect("no error"), Some(limit));
            assert!(steps <= 11, "{steps}");
        }
        assert_eq!(largest(576, 1500, |_| Ok(false)).expect("no error"), None);
    }
}
