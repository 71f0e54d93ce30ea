//! What a connection needs for a path: the bandwidth-delay product, and buffers for it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// No round trip is longer, in seconds, whatever a record says.
const LONGEST: f64 = 3600.0;

/// A path's rate and round trip.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// What the path carries.
    pub bytes_per_second: f64,
    /// There and back, in seconds, without queues.
    pub round_trip_seconds: f64,
}

impl Need {
    /// Bytes on the way while the path is full: rate times round trip.
    pub fn bandwidth_delay_product(&self) -> f64 {
        let round_trip = Duration::from_secs_f64(self.round_trip_seconds.clamp(0.0, LONGEST));
        howdah_tune::floor::bandwidth_delay_product(self.bytes_per_second, round_trip) as f64
    }

    /// What the third figure of `tcp_wmem` must be: Linux has two thirds of a send buffer in flight, since a socket takes
    /// more only when a third is free (`sk_stream_is_writeable`).
    pub fn send_buffer(&self) -> u64 {
        (self.bandwidth_delay_product() * 1.5).ceil() as u64
    }

    /// What the third figure of `tcp_rmem` must be: it counts memory, of which half is offered as window before the kernel
    /// knows better (`tcp_win_from_space`).
    pub fn receive_buffer(&self) -> u64 {
        (self.bandwidth_delay_product() * 2.0).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arithmetic_of_the_article() {
        // 2.656 Gb/s x 3 ms: 995,908 bytes, as it was reckoned there from a rate with more digits.
        let need = Need { bytes_per_second: 2.656e9 / 8.0, round_trip_seconds: 0.003 };
        assert!((need.bandwidth_delay_product() / 995_908.0 - 1.0).abs() < 1e-3);
        assert_eq!(need.send_buffer(), 1_494_000);
        assert_eq!(need.receive_buffer(), 1_992_000);
    }
}
