//! Which lane carries a call: the one that will deliver it first.

use super::LaneMeter;

/// What a lane is taken to deliver before any was measured, in bytes per second.
const RATE_UNKNOWN: f64 = 1e9;

/// A lane as it is now.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Whether it is connected.
    pub is_connected: bool,
    /// It was stuck, or is new beside others, and has delivered nothing since.
    pub is_suspect: bool,
    /// What it delivers.
    pub meter: LaneMeter,
    /// Calls that it carries.
    pub load: usize,
    /// Whether it may carry the call.
    pub is_eligible: bool,
}

/// The number of the lane that will deliver a call of so many bytes first. Lanes that are not connected, or did not deliver lately, are
/// used where there are no others.
pub fn first_to_deliver(volume: usize, lanes: &[Candidate]) -> Option<usize> {
    let fastest = lanes.iter().map(|lane| lane.meter.rate()).fold(0.0, f64::max);
    let otherwise = if fastest > 0.0 { fastest } else { RATE_UNKNOWN };
    let eligible = lanes.iter().enumerate().filter(|(_, lane)| lane.is_eligible);
    let first = eligible.min_by_key(|(_, lane)| {
        (!lane.is_connected, lane.is_suspect, lane.meter.delivery(volume, otherwise), lane.load)
    });
    first.map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LANE: Candidate = Candidate {
        is_connected: true,
        is_suspect: false,
        meter: LaneMeter::UNMEASURED,
        load: 0,
        is_eligible: true,
    };

    #[test]
    fn the_quickest_of_those_that_deliver_is_chosen() {
        let mut busy = LANE;
        busy.meter.on_start(Duration::ZERO, 1 << 20);
        assert_eq!(first_to_deliver(0, &[busy, LANE]), Some(1));
        assert_eq!(first_to_deliver(0, &[Candidate { load: 3, ..LANE }, LANE]), Some(1));
        let lost = Candidate { is_connected: false, ..LANE };
        let suspect = Candidate { is_suspect: true, ..LANE };
        assert_eq!(first_to_deliver(0, &[lost, suspect, busy]), Some(2));
        assert_eq!(first_to_deliver(0, &[lost, suspect]), Some(1));
        assert_eq!(first_to_deliver(0, &[lost]), Some(0));
        assert_eq!(first_to_deliver(0, &[Candidate { is_eligible: false, ..LANE }]), None);
    }
}
