//! What the kernel reports of a connection, in the words of `howdah-tune`.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use howdah_tune::{Gauges, PathState, Receiving, Sample, Sending};

use crate::syscall;
use crate::tcp_info::{BbrInfo, INFORMATION_ROOM, SocketMemory, TcpInfo};

/// Of a connection with less on the way nobody needs to know whether it is starting.
const MUCH_IN_FLIGHT: u64 = 64 << 10;
/// Room for `union tcp_cc_info`: what bbr reports is the longest, and newer ones of it report more.
const CONGESTION_ROOM: usize = 64;
/// Room for `SO_MEMINFO`: nine words, and some to come.
const MEMORY_ROOM: usize = 64;

/// Looks at a TCP connection; the gauges are the caller's.
///
/// # Errors
/// The kernel does not report it.
pub fn sample(socket: BorrowedFd<'_>, now: Duration, gauges: &Gauges) -> io::Result<Sample> {
    let mut bytes = [0; INFORMATION_ROOM];
    let length = syscall::tcp_info(socket, &mut bytes)?;
    let info = TcpInfo::decode(&bytes[..length]);
    let memory = memory_of(socket)?;
    // What is unread takes memory, so of most connections this needs no call; nor does bbr, where little is on the way.
    let unread = if memory.receive_queue_bytes == 0 { 0 } else { rustix::io::ioctl_fionread(socket)? };
    let asks = info.flight_bytes().is_some_and(|flight| flight >= MUCH_IN_FLIGHT);
    let bbr = if asks { bbr_of(socket)? } else { None };
    let starting = bbr.filter(BbrInfo::is_starting).map(|bbr| bbr.bytes_per_second);
    Ok(Sample {
        at: now,
        sending: Sending { starting, ..sending(&info, &memory) },
        receiving: receiving(&info, &memory, unread),
        path: path(&info),
        gauges: gauges.clone(),
    })
}

/// What bbr knows of the path, if the socket sends by it.
fn bbr_of(socket: BorrowedFd<'_>) -> io::Result<Option<BbrInfo>> {
    let mut bytes = [0; CONGESTION_ROOM];
    let length = syscall::congestion_info(socket, &mut bytes)?;
    Ok(BbrInfo::decode(&bytes[..length]))
}

/// What a socket of any kind holds.
pub fn memory_of(socket: BorrowedFd<'_>) -> io::Result<SocketMemory> {
    let mut bytes = [0; MEMORY_ROOM];
    let length = syscall::memory_info(socket, &mut bytes)?;
    Ok(SocketMemory::decode(&bytes[..length]).ok_or(io::ErrorKind::Unsupported)?)
}

fn sending(info: &TcpInfo, memory: &SocketMemory) -> Sending {
    let segment = u64::from(info.send_segment_bytes.unwrap_or(0));
    Sending {
        sent: info.sent_bytes.unwrap_or(0),
        retransmitted: info.retransmitted_bytes.unwrap_or(0),
        spurious: u64::from(info.duplicate_acknowledgements.unwrap_or(0)) * segment,
        reorderings: u64::from(info.reorderings.unwrap_or(0)),
        flight: info.flight_bytes().unwrap_or(0),
        unsent: u64::from(info.unsent_bytes.unwrap_or(0)),
        congestion_window: info.congestion_window_bytes().unwrap_or(0),
        peer_window: info.send_window_bytes.map(u64::from),
        queued: u64::from(memory.send_queue_bytes),
        buffer: u64::from(memory.send_buffer_bytes),
        starting: None,
        limited_by_peer: info.window_limited.unwrap_or_default(),
        limited_by_buffer: info.send_buffer_limited.unwrap_or_default(),
    }
}

fn receiving(info: &TcpInfo, memory: &SocketMemory, unread: u64) -> Receiving {
    Receiving {
        received: info.received_bytes.unwrap_or(0),
        out_of_order: info.out_of_order_segments.map(u64::from),
        segments: u64::from(info.data_segments_received.unwrap_or(0)),
        segment: u64::from(info.receive_segment_bytes.unwrap_or(0)),
        unread,
        queued: u64::from(memory.receive_queue_bytes),
        buffer: u64::from(memory.receive_buffer_bytes),
        window: info.offered_window_bytes(),
        window_limit: 65_535 << info.receive_window_scale.unwrap_or(0),
    }
}

fn path(info: &TcpInfo) -> PathState {
    PathState {
        rtt: info.round_trip.unwrap_or_default(),
        min_rtt: info.least_round_trip.unwrap_or_default(),
        segment: u64::from(info.send_segment_bytes.unwrap_or(0)),
    }
}
