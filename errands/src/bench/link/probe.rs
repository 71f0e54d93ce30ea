//! Datagrams that say when they were sent, and how long each was on its way: to the receiver's socket, by the kernel's own
//! stamp, which is the wire's doing; and to the program that receives, which has to be woken up besides.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;

/// A probe's payload.
const LENGTH: usize = 100;
/// A probe on an Ethernet, with headers and framing.
pub const ON_ETHERNET: usize = LENGTH + 28 + 38;
/// Between two probes.
pub const EVERY: Duration = Duration::from_millis(1);
/// The first ones, which do not count: the kernel begins to stamp a little after it is asked to.
const WARM_UP: u32 = 20;
/// Longer than any probe is on its way.
const LIMIT: Duration = Duration::from_secs(5);

/// How long probes were on their way.
#[derive(Debug, Default)]
pub struct Ways {
    /// Until the kernel had them for the socket.
    pub to_socket: Vec<Duration>,
    /// Until the program had them.
    pub to_program: Vec<Duration>,
}

/// Sends so many from one socket to the other.
pub fn run(from: &UdpSocket, to: &UdpSocket, count: u32) -> anyhow::Result<Ways> {
    from.connect(to.local_addr()?)?;
    to.set_read_timeout(Some(LIMIT))?;
    setsockopt(to, sockopt::ReceiveTimestampns, &true).context("asking the kernel for stamps")?;
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(to, count));
        let start = Instant::now();
        for number in 0..WARM_UP + count {
            let next = start + EVERY * number;
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            let mut probe = [0; LENGTH];
            probe[..8].copy_from_slice(&(now()?.as_nanos() as u64).to_be_bytes());
            from.send(&probe)?;
        }
        receiver.join().map_err(|_| anyhow!("the receiver panicked"))?
    })
}

fn receive(socket: &UdpSocket, count: u32) -> anyhow::Result<Ways> {
    let mut ways = Ways::default();
    let mut control = nix::cmsg_space!(TimeSpec);
    for number in 0..WARM_UP + count {
        let mut probe = [0; LENGTH];
        let mut place = [IoSliceMut::new(&mut probe)];
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut place, Some(&mut control), MsgFlags::empty())
            .context("receiving a probe")?;
        let received = now()?;
        let stamp = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
            _ => None,
        });
        let (sent, _) = probe.split_first_chunk().context("a probe has a time")?;
        let sent = Duration::from_nanos(u64::from_be_bytes(*sent));
        if number >= WARM_UP {
            ways.to_socket.push(stamp.context("no stamp")?.saturating_sub(sent));
            ways.to_program.push(received.saturating_sub(sent));
        }
    }
    Ok(ways)
}

/// By the clock that the kernel stamps with.
fn now() -> anyhow::Result<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).context("a clock before 1970")
}
