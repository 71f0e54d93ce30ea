//! One line of a time series: a connection as one of its ends sees it, or an element of a wire.

use howdah_tune::Verdict;
use serde::{Deserialize, Serialize};

/// One line of `series/CELL-REPETITION.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "a few thousand lines at most, written once and read once")]
pub enum SeriesLine {
    /// A connection.
    Connection(ConnectionSample),
    /// An element of a wire.
    Link(LinkSample),
    /// What the server says limits a client.
    Verdict(VerdictSample),
}

/// A TCP connection at one moment, as the kernel at one end of it sees it. What this kernel does not report is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectionSample {
    /// Seconds since the clients began.
    pub at: f64,
    /// The host whose end it is.
    pub host: String,
    /// `ADDRESS:PORT-ADDRESS:PORT`: this host's end, then the other.
    pub connection: String,
    /// Smoothed round trip, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<f64>,
    /// The least round trip, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt: Option<f64>,
    /// Congestion window, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Sent and not yet acknowledged, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flight: Option<u64>,
    /// The send buffer's size (`sk_sndbuf`), in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<u64>,
    /// What of it is in use, in bytes of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<u64>,
    /// The receive buffer's size (`sk_rcvbuf`), in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<u64>,
    /// What of it is in use, in bytes of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_queue: Option<u64>,
    /// The window that this end offers, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<u64>,
    /// The window that the other end offers, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_window: Option<u64>,
    /// Segments sent again, since the connection began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmitted: Option<u64>,
    /// The latest measured rate of delivery, in bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_rate: Option<u64>,
    /// Acknowledged since the connection began, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_acked: Option<u64>,
    /// Received since the connection began, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_received: Option<u64>,
    /// Seconds in which the other end's window held it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rwnd_limited: Option<f64>,
    /// Seconds in which its own send buffer held it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sndbuf_limited: Option<f64>,
    /// Seconds in which it had something to send or to be acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// The congestion control's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
}

/// An element of a wire at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSample {
    /// Seconds since the clients began.
    pub at: f64,
    /// The wire.
    pub wire: String,
    /// `there` or `back`.
    pub direction: String,
    /// The element.
    pub element: String,
    /// What it holds, in bytes.
    pub queued_bytes: u64,
    /// What left it so far, in bytes.
    pub left_bytes: u64,
    /// Packets that ended there so far.
    pub dropped_packets: u64,
}

/// What the server said of a connection over the interval that ended then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictSample {
    /// Seconds since the clients began.
    pub at: f64,
    /// The client's address and port.
    pub client: String,
    /// What limits it, of the direction that moves more.
    pub verdict: Verdict,
    /// What left the server, in bytes per second.
    pub sent_per_second: f64,
    /// What came to it, in bytes per second.
    pub received_per_second: f64,
    /// Smoothed round trip, in seconds.
    pub rtt: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_read_as_what_it_was_written() {
        let connection = SeriesLine::Connection(ConnectionSample {
            at: 1.25,
            host: "client".to_owned(),
            connection: "10.77.0.2:801-10.77.0.1:2049".to_owned(),
            window: Some(14480),
            congestion: Some("cubic".to_owned()),
            ..ConnectionSample::default()
        });
        let link = SeriesLine::Link(LinkSample {
            at: 0.1,
            wire: "path0".to_owned(),
            direction: "there".to_owned(),
            element: "rate".to_owned(),
            queued_bytes: 3028,
            left_bytes: 1,
            dropped_packets: 0,
        });
        let verdict = SeriesLine::Verdict(VerdictSample {
            at: 4.0,
            client: "10.77.0.2:801".to_owned(),
            verdict: Verdict::ClientSendBuffer,
            sent_per_second: 1e3,
            received_per_second: 27e6,
            rtt: 0.1,
        });
        for line in [connection, link, verdict] {
            let text = serde_json::to_string(&line).expect("written");
            assert!(!text.contains("null"), "what is not known is left out: {text}");
            assert_eq!(serde_json::from_str::<SeriesLine>(&text).expect("read"), line, "{text}");
        }
    }
}
