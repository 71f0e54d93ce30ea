//! A sender of datagrams that can outrun a fast line: it hands the kernel many at once (`UDP_SEGMENT`), which travel as one
//! super-packet, or one by one as most programs do; and a receiver.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use nix::sys::socket::{setsockopt, sockopt};

/// A datagram's payload.
const PAYLOAD: usize = 1448;
/// The same on an Ethernet, with headers and framing.
const ON_ETHERNET: usize = PAYLOAD + 28 + 38;
/// Datagrams of a super-packet: as many as 64 KB hold.
const MOST_AT_ONCE: f64 = 44.0;
/// A super-packet is not more than a line sends in this time: more might not find room in its queue.
const BURST: f64 = 0.001;
/// How often a receiver looks whether it is over.
const LOOK: Duration = Duration::from_millis(100);
/// The longest rest of a sender.
const REST: Duration = Duration::from_micros(50);

/// How many to hand over at once to fill a line of that rate.
pub fn many(bits_per_second: f64) -> usize {
    (bits_per_second * BURST / 8.0 / ON_ETHERNET as f64).clamp(1.0, MOST_AT_ONCE) as usize
}

/// Sends until it is over: so many bits on the wire in a second, so many datagrams at once. Payload that arrived, in bytes.
pub fn run(
    from: &UdpSocket,
    to: &UdpSocket,
    bits: f64,
    at_once: usize,
    over: &AtomicBool,
) -> anyhow::Result<u64> {
    from.connect(to.local_addr()?)?;
    to.set_read_timeout(Some(LOOK))?;
    if at_once > 1 {
        setsockopt(from, sockopt::UdpGsoSegment, &(PAYLOAD as i32)).context("setting UDP_SEGMENT")?;
        setsockopt(to, sockopt::UdpGroSegment, &true).context("setting UDP_GRO")?;
    }
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(to, over));
        send(from, bits, at_once, over)?;
        receiver.join().map_err(|_| anyhow!("the receiver panicked"))
    })
}

fn send(from: &UdpSocket, bits: f64, at_once: usize, over: &AtomicBool) -> anyhow::Result<()> {
    let packet = vec![7; PAYLOAD * at_once];
    let (mut sent, start) = (0, Instant::now());
    while !over.load(Ordering::Relaxed) {
        let due = bits / 8.0 / ON_ETHERNET as f64 * start.elapsed().as_secs_f64();
        if sent as f64 > due {
            std::thread::sleep(REST);
            continue;
        }
        from.send(&packet).context("sending datagrams")?;
        sent += at_once as u64;
    }
    Ok(())
}

fn receive(socket: &UdpSocket, over: &AtomicBool) -> u64 {
    let (mut bytes, mut place) = (0, vec![0; 1 << 16]);
    while !over.load(Ordering::Relaxed) {
        // Nothing for a while is no error here.
        bytes += socket.recv(&mut place).unwrap_or(0) as u64;
    }
    bytes
}
