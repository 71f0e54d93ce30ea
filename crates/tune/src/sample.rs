//! What is known about a connection at one moment: what the kernel reports of it, and our own gauges. All sums are cumulative,
//! so that the difference of two samples describes the time between them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::seconds;

/// A look at a TCP connection. Bytes and times; what an older kernel does not report is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// When, since any fixed moment.
    #[serde(with = "seconds")]
    pub at: Duration,
    /// What leaves us.
    pub sending: Sending,
    /// What comes to us.
    pub receiving: Receiving,
    /// The path in between.
    pub path: PathState,
    /// What only we know.
    pub gauges: Gauges,
}

/// The sending half, as `TCP_INFO` and the socket's queues show it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// Bytes sent, with those sent again (`tcpi_bytes_sent`).
    pub sent: u64,
    /// Bytes sent again (`tcpi_bytes_retrans`).
    pub retransmitted: u64,
    /// Bytes that need not have been sent again: the peer had them (`tcpi_dsack_dups` x segment size).
    pub spurious: u64,
    /// How often packets were seen to overtake others (`tcpi_reord_seen`).
    #[serde(default)]
    pub reorderings: u64,
    /// Sent and not acknowledged (`tcpi_unacked` x segment size).
    pub flight: u64,
    /// In the socket and not sent yet (`tcpi_notsent_bytes`).
    pub unsent: u64,
    /// The congestion window (`tcpi_snd_cwnd` x segment size).
    pub congestion_window: u64,
    /// The window that the peer offers (`tcpi_snd_wnd`).
    pub peer_window: Option<u64>,
    /// bbr still looks for the rate of the path: the bytes per second that it has found so far (`TCP_CC_INFO`). `None`: it has
    /// found it, or something else decides.
    #[serde(default)]
    pub starting: Option<u64>,
    /// Memory of the send queue (`SK_MEMINFO_WMEM_QUEUED`).
    pub queued: u64,
    /// Its limit (`SK_MEMINFO_SNDBUF`).
    pub buffer: u64,
    /// Time in which the peer's window was too small (`tcpi_rwnd_limited`). The kernel counts stalls, not severity.
    #[serde(with = "seconds")]
    pub limited_by_peer: Duration,
    /// Time in which the send buffer was too small (`tcpi_sndbuf_limited`).
    #[serde(with = "seconds")]
    pub limited_by_buffer: Duration,
}

impl Sending {
    /// Bytes sent, those that were sent again counted once: what the line carried for somebody.
    pub fn sent_once(&self) -> u64 {
        self.sent.saturating_sub(self.retransmitted)
    }
}

/// The receiving half.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receiving {
    /// Bytes received in order (`tcpi_bytes_received`).
    pub received: u64,
    /// Segments that arrived out of order (`tcpi_rcv_ooopack`).
    pub out_of_order: Option<u64>,
    /// Segments received (`tcpi_data_segs_in`).
    pub segments: u64,
    /// The largest of them of late (`tcpi_rcv_mss`).
    #[serde(default)]
    pub segment: u64,
    /// Bytes received and not read by us (`SIOCINQ`).
    pub unread: u64,
    /// Memory that holds them (`SK_MEMINFO_RMEM_ALLOC`).
    #[serde(default)]
    pub queued: u64,
    /// Memory that may hold them (`SK_MEMINFO_RCVBUF`).
    pub buffer: u64,
    /// The window that we offer, as it can be written on the wire: at most `window_limit` (`tcpi_rcv_wnd`).
    pub window: Option<u64>,
    /// The largest window that the scale agreed on can express: 65,535 << `tcpi_rcv_wscale` (RFC 7323 2.2).
    pub window_limit: u64,
}

/// Round trips, and how the sender takes its losses.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathState {
    /// The smoothed round trip (`tcpi_rtt`).
    #[serde(with = "seconds")]
    pub rtt: Duration,
    /// The shortest one of late (`tcpi_min_rtt`).
    #[serde(with = "seconds")]
    pub min_rtt: Duration,
    /// The largest segment (`tcpi_snd_mss`).
    pub segment: u64,
}

/// What only the server knows of a connection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gauges {
    /// Calls received.
    pub calls: u64,
    /// Time in which at least one call was being carried out.
    #[serde(with = "seconds")]
    pub executing: Duration,
    /// Time in which a call had been received in part: the client had more to send than the path took.
    #[serde(with = "seconds")]
    pub mid_call: Duration,
    /// Part of that time: nothing came between one look and the next. Of calls that come in bursts, one for each round
    /// trip, much; of those that the path lets through at its rate, little.
    #[serde(default, with = "seconds")]
    pub silent: Duration,
    /// Time in which replies waited for the socket to take them.
    #[serde(default, with = "seconds")]
    pub held_up: Duration,
    /// Time in which we did not read though there was something to read: no budget.
    #[serde(with = "seconds")]
    pub refused_to_read: Duration,
    /// Time in which a reply was held because its client had used up a cap.
    #[serde(default, with = "seconds")]
    pub capped: Duration,
    /// Time in which bulk was encrypted and decrypted.
    #[serde(default, with = "seconds")]
    pub in_cipher: Duration,
    /// What every call waits for before it reaches storage, for an experiment.
    #[serde(default, with = "seconds")]
    pub delay: Duration,
    /// Bytes of replies that the socket did not take yet.
    pub replies_waiting: u64,
    /// Calls received and not answered.
    pub outstanding: u32,
    /// How many threads of ours had a processor or wanted one lately, on average.
    #[serde(default)]
    pub threads_wanting: f64,
    /// What part of the host's processors was busy lately, from 0 to 1.
    pub processors_busy: f64,
    /// What part of them this process used lately; `None` where that is not known.
    #[serde(default)]
    pub processors_own: Option<f64>,
}

impl Sample {
    /// The round trip without queues, as far as it is known.
    pub fn base_rtt(&self) -> Duration {
        if self.path.min_rtt.is_zero() { self.path.rtt } else { self.path.min_rtt }
    }
}
