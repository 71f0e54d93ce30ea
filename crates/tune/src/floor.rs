//! Arithmetic of buffers: how much flight a buffer allows, and how much buffer a flight needs.

use std::time::Duration;

use crate::Setting;
use crate::budget::BUDGET_MIN;
use crate::sizes::BelowFloor;

/// A sender that waits for room is woken while two thirds of its buffer are in use (`sk_stream_is_writeable`), so one and a
/// half times the flight; and a segment takes more memory than its payload where the interface does not cut segments itself,
/// for which another 1.6 is allowed.
const BUFFER_PER_FLIGHT: f64 = 2.4;
/// With offloads, memory is payload: what two thirds of the buffer hold.
const FLIGHT_PER_BUFFER: f64 = 2.0 / 3.0;
/// `SO_RCVBUF` counts memory, the window payload: 0.66 to 0.80 of a buffer was offered (`docs/lab/old-experiments.md`,
/// `buffers-2008` and `bdp-article`), so twice is enough.
const BUFFER_PER_WINDOW: u64 = 2;

/// Bytes that a path holds: bandwidth in bytes per second times round trip.
pub fn bandwidth_delay_product(bytes_per_second: f64, round_trip: Duration) -> u64 {
    (bytes_per_second * round_trip.as_secs_f64()).round() as u64
}

/// The send buffer (`sk_sndbuf`) that keeps so many bytes in flight.
pub fn send_buffer_for(flight: u64) -> u64 {
    (flight as f64 * BUFFER_PER_FLIGHT).ceil() as u64
}

/// The most that a send buffer (`sk_sndbuf`) keeps in flight.
pub fn flight_of(send_buffer: u64) -> u64 {
    (send_buffer as f64 * FLIGHT_PER_BUFFER) as u64
}

/// The receive buffer (`sk_rcvbuf`) behind a window.
pub fn receive_buffer_for(window: u64) -> u64 {
    window.saturating_mul(BUFFER_PER_WINDOW)
}

/// The least send buffer that somebody may set by hand: a few replies of the largest size wait in it, or no reply leaves
/// in one piece.
pub fn send_floor(largest_reply: u64) -> u64 {
    REPLIES_IN_BUFFER * largest_reply
}

/// The least receive buffer that somebody may set by hand: a few calls of the largest size. With calls of 1 MiB and 4 KiB
/// of headers it is the 3,158,016 bytes that servers of 2008 were given.
pub fn receive_floor(largest_call: u64) -> u64 {
    CALLS_IN_BUFFER * largest_call
}

const CALLS_IN_BUFFER: u64 = 3;
const REPLIES_IN_BUFFER: u64 = 2;

/// A send buffer set by hand.
///
/// # Errors
/// It is below [`send_floor`].
pub fn send_setting(asked: u64, largest_reply: u64) -> Result<Setting, BelowFloor> {
    let formula = format!("{REPLIES_IN_BUFFER} replies of {largest_reply} bytes each");
    Setting::checked(asked, send_floor(largest_reply), &formula)
}

/// A receive buffer set by hand.
///
/// # Errors
/// It is below [`receive_floor`].
pub fn receive_setting(asked: u64, largest_call: u64) -> Result<Setting, BelowFloor> {
    let formula = format!("{CALLS_IN_BUFFER} calls of {largest_call} bytes each");
    Setting::checked(asked, receive_floor(largest_call), &formula)
}

/// A budget set by hand.
///
/// # Errors
/// It is below [`BUDGET_MIN`].
pub fn budget_setting(asked: u64) -> Result<Setting, BelowFloor> {
    let formula = "what serves one client: its windows, and what is in flight to it";
    Setting::checked(asked, BUDGET_MIN, formula)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_article_s_arithmetic() {
        // 2.656 Gb/s x 3 ms (`docs/lab/old-experiments.md`; the article has 995,908).
        let product = bandwidth_delay_product(2.656e9 / 8.0, Duration::from_millis(3));
        assert_eq!(product, 996_000);
    }

    #[test]
    fn the_default_maximum_keeps_2_8_megabytes_in_flight() {
        assert_eq!(flight_of(4 << 20), 2_796_202);
    }

    #[test]
    fn a_buffer_for_a_flight_allows_that_flight() {
        for flight in [0, 1, 1000, 12_500_000, 134_217_728] {
            assert!(flight_of(send_buffer_for(flight)) >= flight, "{flight}");
        }
    }

    #[test]
    fn a_buffer_that_somebody_sets_is_taken_from_its_floor_on() {
        // What servers of 2008 were given: three calls of 1 MiB and 4 KiB of headers.
        let call = (1 << 20) + (4 << 10);
        assert_eq!((receive_floor(call), send_floor(call)), (3_158_016, 2_105_344));
        let fixed = |size| Ok(Setting::Fixed(size));
        assert_eq!(receive_setting(3_158_016, call), fixed(3_158_016));
        assert_eq!(send_setting(2_105_344, call), fixed(2_105_344));
        assert_eq!(budget_setting(BUDGET_MIN), fixed(BUDGET_MIN));
        let said = |refused: Result<Setting, BelowFloor>| refused.expect_err("too small").to_string();
        let [receive, send] = [said(receive_setting(3_158_015, call)), said(send_setting(2_105_343, call))];
        assert!(
            receive.contains("3158016") && receive.contains("3 calls of 1052672 bytes each"),
            "{receive}"
        );
        assert!(send.contains("2105344") && send.contains("2 replies of 1052672 bytes each"), "{send}");
        assert!(said(budget_setting(BUDGET_MIN - 1)).contains("16777216"));
    }
}
