//! What the kernel reports of one TCP connection, decoded: `TCP_INFO`, and the memory of its socket. The bytes come from
//! `getsockopt` or from a list of sockets; it does not matter which.

use std::time::Duration;

/// Room for `struct tcp_info`, which has 280 bytes on Linux 6.18 and grows.
pub(crate) const INFORMATION_ROOM: usize = 512;

/// What Linux reports of a TCP connection (`struct tcp_info`). The struct only ever grows: what this kernel does not report, or
/// not yet knows, is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Whether it was short of data to send when `delivery_rate` was measured: the rate is a lower bound then.
    pub is_application_limited: Option<bool>,
    /// How often in a row it has waited in vain for something that it sent to be acknowledged, and sent it again.
    pub timeouts: Option<u8>,
    /// How often in a row it has asked in vain for a sign of life.
    pub probes: Option<u8>,
    /// How long ago anything was last acknowledged, new or not.
    pub since_acknowledgement: Option<Duration>,
    /// Payload of the largest segment that it sends, in bytes.
    pub send_segment_bytes: Option<u32>,
    /// Payload of the largest segment that it received lately, in bytes.
    pub receive_segment_bytes: Option<u32>,
    /// Segments on the way.
    pub unacknowledged_segments: Option<u32>,
    /// Segments taken to be lost and not yet repaired.
    pub lost_segments: Option<u32>,
    /// Largest packet on the path, in bytes.
    pub path_mtu_bytes: Option<u32>,
    /// Smoothed round trip.
    pub round_trip: Option<Duration>,
    /// How much it varies.
    pub round_trip_variation: Option<Duration>,
    /// The least round trip of the last minutes.
    pub least_round_trip: Option<Duration>,
    /// The round trip as the receiving side sees it.
    pub receiver_round_trip: Option<Duration>,
    /// Congestion window, in segments.
    pub congestion_window_segments: Option<u32>,
    /// The most that the application took in one round trip, in bytes: what automatic receive buffers grow by.
    pub receive_space_bytes: Option<u32>,
    /// The ceiling of the window that it offers, in bytes.
    pub receive_threshold_bytes: Option<u32>,
    /// The window that it offers, in bytes, before it is cut to what its scale can say.
    pub receive_window_bytes: Option<u32>,
    /// The window that the other side offers, in bytes.
    pub send_window_bytes: Option<u32>,
    /// The shift of the windows that it offers.
    pub receive_window_scale: Option<u8>,
    /// The shift of the windows that the other side offers.
    pub send_window_scale: Option<u8>,
    /// Segments sent again.
    pub retransmitted_segments: Option<u32>,
    /// The rate at which it sends at most now, in bytes per second.
    pub pacing_bytes_per_second: Option<u64>,
    /// The latest measured rate of delivery, in bytes per second.
    pub delivery_bytes_per_second: Option<u64>,
    /// Bytes acknowledged.
    pub acknowledged_bytes: Option<u64>,
    /// Bytes received in order.
    pub received_bytes: Option<u64>,
    /// Bytes sent, those sent again included.
    pub sent_bytes: Option<u64>,
    /// Bytes sent again.
    pub retransmitted_bytes: Option<u64>,
    /// Bytes that wait in the send queue and were never sent.
    pub unsent_bytes: Option<u32>,
    /// Time with something to send or to be acknowledged.
    pub busy: Option<Duration>,
    /// Of that, held back by the other side's window.
    pub window_limited: Option<Duration>,
    /// Of that, held back by its own send buffer.
    pub send_buffer_limited: Option<Duration>,
    /// Segments that were acknowledged twice: that many were sent again for nothing.
    pub duplicate_acknowledgements: Option<u32>,
    /// How often packets were seen to overtake others.
    pub reorderings: Option<u32>,
    /// Segments that arrived before one that was sent earlier.
    pub out_of_order_segments: Option<u32>,
    /// Segments with data that arrived.
    pub data_segments_received: Option<u32>,
}

/// What a socket holds in the kernel (`SK_MEMINFO`, `SO_MEMINFO`), in bytes of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SocketMemory {
    /// Used by what was received and not yet read.
    pub receive_queue_bytes: u32,
    /// The most of that (`sk_rcvbuf`).
    pub receive_buffer_bytes: u32,
    /// Used by what was written: not yet sent, and not yet acknowledged.
    pub send_queue_bytes: u32,
    /// The most of that (`sk_sndbuf`).
    pub send_buffer_bytes: u32,
    /// Packets thrown away for want of memory.
    pub drops: u32,
}

/// `min_rtt` before there was one.
const UNKNOWN: u32 = u32::MAX;

impl TcpInfo {
    /// From the bytes of `struct tcp_info`, of whatever length this kernel has.
    pub fn decode(bytes: &[u8]) -> Self {
        let fields = Fields(bytes);
        let scales = fields.byte(6);
        Self {
            is_application_limited: fields.byte(7).map(|bits| bits & 1 == 1),
            timeouts: fields.byte(2),
            probes: fields.byte(3),
            since_acknowledgement: fields
                .u32(56)
                .map(|milliseconds| Duration::from_millis(u64::from(milliseconds))),
            send_window_scale: scales.map(|scales| scales & 0xf),
            receive_window_scale: scales.map(|scales| scales >> 4),
            send_segment_bytes: fields.u32(16),
            receive_segment_bytes: fields.u32(20),
            unacknowledged_segments: fields.u32(24),
            lost_segments: fields.u32(32),
            path_mtu_bytes: fields.u32(60),
            receive_threshold_bytes: fields.u32(64),
            round_trip: fields.time(68),
            round_trip_variation: fields.time(72),
            congestion_window_segments: fields.u32(80),
            receiver_round_trip: fields.time(92).filter(|time| !time.is_zero()),
            receive_space_bytes: fields.u32(96),
            retransmitted_segments: fields.u32(100),
            pacing_bytes_per_second: fields.u64(104),
            acknowledged_bytes: fields.u64(120),
            received_bytes: fields.u64(128),
            unsent_bytes: fields.u32(144),
            least_round_trip: fields.time(148),
            delivery_bytes_per_second: fields.u64(160),
            busy: fields.long_time(168),
            window_limited: fields.long_time(176),
            send_buffer_limited: fields.long_time(184),
            sent_bytes: fields.u64(200),
            retransmitted_bytes: fields.u64(208),
            duplicate_acknowledgements: fields.u32(216),
            reorderings: fields.u32(220),
            out_of_order_segments: fields.u32(224),
            data_segments_received: fields.u32(152),
            send_window_bytes: fields.u32(228),
            receive_window_bytes: fields.u32(232),
        }
    }

    /// Congestion window in bytes.
    pub fn congestion_window_bytes(&self) -> Option<u64> {
        Some(u64::from(self.congestion_window_segments?) * u64::from(self.send_segment_bytes?))
    }

    /// Sent and not yet acknowledged, in bytes.
    pub fn flight_bytes(&self) -> Option<u64> {
        Some(u64::from(self.unacknowledged_segments?) * u64::from(self.send_segment_bytes?))
    }

    /// The window that it offers as it can be said on the wire, in bytes.
    pub fn offered_window_bytes(&self) -> Option<u64> {
        let most = 65535_u64 << self.receive_window_scale.unwrap_or(0);
        Some(u64::from(self.receive_window_bytes?).min(most))
    }
}

impl SocketMemory {
    /// From the bytes of `SK_MEMINFO`: `u32`s in the order of `SK_MEMINFO_*`. `None` if there are too few.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let fields = Fields(bytes);
        Some(Self {
            receive_queue_bytes: fields.u32(0)?,
            receive_buffer_bytes: fields.u32(4)?,
            send_buffer_bytes: fields.u32(12)?,
            send_queue_bytes: fields.u32(20)?,
            drops: fields.u32(32).unwrap_or(0),
        })
    }
}

/// What bbr reports of itself (`struct tcp_bbr_info`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BbrInfo {
    /// The most that the path delivered lately.
    pub bytes_per_second: u64,
    /// How many times as fast it sends, in parts of 256.
    pacing_gain: u32,
}

/// Its length. The union that the kernel answers with does not say whose words these are; nobody else's are so many.
const BBR_BYTES: usize = 20;

impl BbrInfo {
    /// From the bytes of `union tcp_cc_info`. `None`: they are not bbr's.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let fields = Fields(bytes);
        let (low, high) = (fields.u32(0)?, fields.u32(4)?);
        let bytes_per_second = u64::from(high) << 32 | u64::from(low);
        (bytes.len() >= BBR_BYTES).then_some(Self { bytes_per_second, pacing_gain: fields.u32(12)? })
    }

    /// Whether it still looks for the rate of the path: later it sends a quarter faster at most.
    pub fn is_starting(&self) -> bool {
        self.pacing_gain >= 2 << 8
    }
}

/// Fields by their offset, in the byte order of this machine, as long as the kernel gave that many bytes.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_ne_bytes(self.0.get(at..at + 8)?.try_into().ok()?))
    }

    fn time(&self, at: usize) -> Option<Duration> {
        let microseconds = self.u32(at).filter(|&microseconds| microseconds != UNKNOWN)?;
        Some(Duration::from_micros(u64::from(microseconds)))
    }

    fn long_time(&self, at: usize) -> Option<Duration> {
        self.u64(at).map(Duration::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a connection over loopback on Linux 6.18, with 100000 bytes sent and 100 received; `ss -ti` printed the figures that
    /// are expected of it.
    const RECORDED: &str = "\
        010000000007aa01e01c0300409c0000cbff0000180200000000000000000000000000000000000000000000680000000000 \
        00006800000068000000ffff0000d7ff00000a00000007000000ffffff7f12000000cbff00001300000000000000d7ff0000 \
        00000000da179de40a000000ffffffffffffffffa18601000000000064000000000000001700000016000000000000000400 \
        0000010000001400000030d2c5cf030000000000000000000000000000000000000000000000000000001500000000000000 \
        a086010000000000000000000000000000000000000000000000000000e40200000001000000000000000000000000000000 \
        000000000000000000000000000000000000000000000000000000000000";

    fn recorded() -> Vec<u8> {
        let digits: Vec<char> = RECORDED.chars().filter(char::is_ascii_hexdigit).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).expect("a byte");
        digits.chunks(2).map(byte).collect()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_recorded_connection_reads_as_ss_reads_it() {
        let info = TcpInfo::decode(&recorded());
        let microseconds = |count| Some(Duration::from_micros(count));
        assert_eq!(recorded().len(), 280);
        assert_eq!((info.send_segment_bytes, info.receive_segment_bytes), (Some(65483), Some(536)));
        assert_eq!((info.send_window_scale, info.receive_window_scale), (Some(10), Some(10)));
        assert_eq!(info.is_application_limited, Some(true));
        assert_eq!((info.timeouts, info.probes), (Some(0), Some(0)));
        assert_eq!(info.since_acknowledgement, Some(Duration::from_millis(104)));
        assert_eq!(info.path_mtu_bytes, Some(65535));
        assert_eq!(info.receive_threshold_bytes, Some(65495));
        assert_eq!((info.round_trip, info.round_trip_variation), (microseconds(10), microseconds(7)));
        assert_eq!((info.least_round_trip, info.receiver_round_trip), (microseconds(4), None));
        assert_eq!((info.acknowledged_bytes, info.received_bytes), (Some(100_001), Some(100)));
        assert_eq!((info.sent_bytes, info.retransmitted_bytes), (Some(100_000), Some(0)));
        assert_eq!(info.delivery_bytes_per_second, Some(130_966_000_000 / 8));
        assert_eq!(info.pacing_bytes_per_second, Some(374_281_387_728 / 8));
        assert_eq!((info.send_window_bytes, info.receive_window_bytes), (Some(189_440), Some(65536)));
        assert_eq!(info.congestion_window_bytes(), Some(18 * 65483));
        assert_eq!((info.flight_bytes(), info.offered_window_bytes()), (Some(0), Some(65536)));
        assert_eq!(info.receive_space_bytes, Some(65495));
    }

    #[test]
    fn what_an_older_kernel_does_not_tell_is_none() {
        let whole = recorded();
        for (length, kernel) in [(104, "2.6"), (192, "4.9"), (232, "5.10")] {
            let info = TcpInfo::decode(&whole[..length]);
            assert!(info.round_trip.is_some(), "{kernel}");
            assert_eq!(info.busy.is_some(), length >= 192, "{kernel}");
            assert_eq!(info.send_window_bytes.is_some(), length >= 232, "{kernel}");
            assert_eq!(info.receive_window_bytes, None, "{kernel}");
        }
        assert_eq!(TcpInfo::decode(&[]), TcpInfo::default());
    }

    #[test]
    fn a_window_is_at_most_what_its_scale_can_say() {
        let info = TcpInfo {
            receive_window_bytes: Some(178_000_000),
            receive_window_scale: Some(11),
            ..TcpInfo::default()
        };
        assert_eq!(info.offered_window_bytes(), Some(134_215_680));
    }

    #[test]
    fn memory_needs_its_first_fields() {
        let bytes: Vec<u8> = [1, 2, 3, 4, 5, 6, 7, 8, 9_u32].into_iter().flat_map(u32::to_ne_bytes).collect();
        let memory = SocketMemory::decode(&bytes).expect("all are there");
        assert_eq!((memory.receive_queue_bytes, memory.receive_buffer_bytes), (1, 2));
        assert_eq!((memory.send_buffer_bytes, memory.send_queue_bytes, memory.drops), (4, 6, 9));
        assert_eq!(SocketMemory::decode(&bytes[..20]), None);
        assert_eq!(SocketMemory::decode(&bytes[..32]).expect("before there were drops").drops, 0);
    }

    #[test]
    fn bbr_starts_while_it_sends_more_than_twice_as_fast_as_it_delivers() {
        let encoded = |gain: u32| [500_000_000, 1, 100_000, gain, 739].map(u32::to_ne_bytes).concat();
        let starting = BbrInfo::decode(&encoded(739)).expect("as long as it is");
        assert_eq!((starting.bytes_per_second, starting.is_starting()), (4_794_967_296, true));
        for gain in [88, 192, 256, 320] {
            assert!(!BbrInfo::decode(&encoded(gain)).expect("as long as it is").is_starting(), "{gain}");
        }
        // What cubic reports, and vegas.
        assert_eq!(BbrInfo::decode(&[]), None);
        assert_eq!(BbrInfo::decode(&encoded(739)[..16]), None);
    }
}
