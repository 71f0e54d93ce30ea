//! What is known of the path and of this host before the first call.

/// The largest transfer in a datagram: what servers take, and what leaves room for headers in 64 KiB.
const LARGEST_TRANSFER: usize = 32 << 10;
/// Calls in flight by default. A window of 32 KiB reads is bounded by the receive room long before.
const CALLS: usize = 128;
/// Room for replies where nothing is known: half of what Linux grants an unprivileged socket.
const RECEIVE_ROOM: usize = 208 << 10;
/// The MTU of loopback, which no network has.
const LOCAL_MTU: usize = 65_535;
/// Headers besides the data of a READ's reply or a WRITE's call: IP 20, UDP 8, RPC with a full AUTH_SYS, the handle, and
/// attributes.
const HEADERS: usize = 300;

/// What is known of the path and of this host before the first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The most bytes in one packet on the path (path MTU).
    pub path_mtu: usize,
    /// The largest READ or WRITE that server and caller allow, in bytes.
    pub largest_transfer: usize,
    /// The transfer size to begin with, where somebody chose one. It is given up on evidence, as any other.
    pub first_transfer: Option<usize>,
    /// At most so many calls in flight.
    pub most_calls: usize,
    /// Replies of so many bytes may wait in the socket before they are dropped.
    pub receive_room: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            path_mtu: 1500,
            largest_transfer: LARGEST_TRANSFER,
            first_transfer: None,
            most_calls: CALLS,
            receive_room: RECEIVE_ROOM,
        }
    }
}

impl Settings {
    /// Does the path stay on this host?
    pub(super) fn is_local(&self) -> bool {
        self.path_mtu >= LOCAL_MTU
    }

    /// The largest transfer, a power of two, that travels in one packet.
    pub fn one_packet(&self) -> usize {
        let room = self.path_mtu.saturating_sub(HEADERS).clamp(512, LARGEST_TRANSFER);
        1 << room.ilog2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_holds_a_power_of_two() {
        for (path_mtu, expected) in
            [(576, 512), (1280, 512), (1500, 1024), (9000, 8192), (65_536, 32_768), (0, 512)]
        {
            assert_eq!(Settings { path_mtu, ..Settings::default() }.one_packet(), expected, "{path_mtu}");
        }
    }
}
