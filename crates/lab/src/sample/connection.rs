//! A connection as the kernel lists it, as a line of a series.

use std::time::Duration;

use howdah_net::TcpSocket;

use crate::record::ConnectionSample;

/// The line of a socket of this host, seconds after the clients began.
pub fn sample(at: f64, host: &str, socket: TcpSocket) -> ConnectionSample {
    let TcpSocket { local, remote, info, memory, congestion } = socket;
    let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    ConnectionSample {
        at,
        host: host.to_owned(),
        connection: format!("{local}-{remote}"),
        rtt: seconds(info.round_trip),
        min_rtt: seconds(info.least_round_trip),
        window: info.congestion_window_bytes(),
        flight: info.flight_bytes(),
        send_buffer: memory.map(|memory| memory.send_buffer_bytes.into()),
        send_queue: memory.map(|memory| memory.send_queue_bytes.into()),
        receive_buffer: memory.map(|memory| memory.receive_buffer_bytes.into()),
        receive_queue: memory.map(|memory| memory.receive_queue_bytes.into()),
        receive_window: info.offered_window_bytes(),
        send_window: info.send_window_bytes.map(u64::from),
        retransmitted: info.retransmitted_segments.map(u64::from),
        delivery_rate: info.delivery_bytes_per_second,
        bytes_acked: info.acknowledged_bytes,
        bytes_received: info.received_bytes,
        rwnd_limited: seconds(info.window_limited),
        sndbuf_limited: seconds(info.send_buffer_limited),
        busy: seconds(info.busy),
        congestion,
    }
}

#[cfg(test)]
mod tests {
    use howdah_net::{SocketMemory, TcpInfo};

    use super::*;

    #[test]
    fn what_is_not_told_is_left_out() {
        let info = TcpInfo {
            send_segment_bytes: Some(1448),
            congestion_window_segments: Some(10),
            round_trip: Some(Duration::from_millis(30)),
            ..TcpInfo::default()
        };
        let memory = Some(SocketMemory { receive_buffer_bytes: 3_158_016, ..SocketMemory::default() });
        let [local, remote] =
            ["10.77.0.2:801", "10.77.0.1:2049"].map(|text| text.parse().expect("an address"));
        let line = sample(1.5, "client", TcpSocket { local, remote, info, memory, congestion: None });
        assert_eq!(line.connection, "10.77.0.2:801-10.77.0.1:2049");
        assert_eq!((line.window, line.rtt, line.receive_buffer), (Some(14480), Some(0.03), Some(3_158_016)));
        assert_eq!((line.flight, line.busy, line.congestion), (None, None, None));
    }
}
