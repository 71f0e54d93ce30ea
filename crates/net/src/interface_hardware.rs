//! What an interface is made for, as ethtool(8) shows it: speed, duplex, rings, offloads; and its rings set.
//!
//! Asked with `SIOCETHTOOL` in the calling thread's network namespace; structs and numbers are those of `linux/ethtool.h`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::{AddressFamily, SocketType};

use crate::syscall;

const GET_SETTINGS: u32 = 0x01;
const GET_DRIVER: u32 = 0x03;
const GET_RINGS: u32 = 0x10;
const SET_RINGS: u32 = 0x11;
/// `struct ethtool_cmd`, `ethtool_drvinfo`, `ethtool_ringparam`, `ethtool_value`: their lengths.
const SETTINGS_BYTES: usize = 44;
const DRIVER_BYTES: usize = 196;
const RING_BYTES: usize = 36;
const VALUE_BYTES: usize = 8;
/// What NFS over TCP gains by, by the names that ethtool has for it, and the command that asks.
const OFFLOADS: [(&str, u32); 6] =
    [("rx", 0x14), ("tx", 0x16), ("sg", 0x18), ("tso", 0x1e), ("gso", 0x23), ("gro", 0x2b)];
/// Drivers without a line whose speed is nobody's: a veth says 10 Gb/s whatever it carries (`drivers/net/veth.c`), and a bridge the
/// speed of its fastest port, by which a packet need not leave (`net/bridge/br_device.c`).
const WITHOUT_LINE: [&str; 2] = ["veth", "bridge"];
/// A TUN or TAP device has no speed; this is what the driver says until somebody sets another (`tun_default_link_ksettings`:
/// 10 Mb/s, of late 10 Gb/s).
const SPEEDS_OF_TUN: [u64; 2] = [10, 10_000];

/// An interface's hardware; what its driver does not report is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hardware {
    /// The driver's name.
    pub driver: Option<String>,
    /// Bits per second of the link.
    pub bits_per_second: Option<u64>,
    /// Whether both ways can be used at a time.
    pub is_full_duplex: Option<bool>,
    /// The longest packet that it sends, in bytes.
    pub mtu: Option<u64>,
    /// The ring of what is received.
    pub receive_ring: Option<Ring>,
    /// The ring of what is sent.
    pub send_ring: Option<Ring>,
    /// Offloads by their short names, and whether each is on.
    pub offloads: Vec<(String, bool)>,
}

/// Descriptors of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ring {
    /// How many there are.
    pub now: u32,
    /// How many there can be.
    pub most: u32,
}

/// That of an interface.
///
/// # Errors
/// No socket can be made to ask by.
pub fn hardware(interface: &str) -> io::Result<Hardware> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let socket = socket.as_fd();
    let ask = |command, length| ask(socket, interface, command, length);
    let driver = ask(GET_DRIVER, DRIVER_BYTES).map(|block| text(&block[4..36]));
    let (receive_ring, send_ring) = ask(GET_RINGS, RING_BYTES).map_or((None, None), |block| rings(&block));
    let is_on = |command| ask(command, VALUE_BYTES).map(|block| number(&block, 4) != 0);
    let (bits_per_second, is_full_duplex) =
        ask(GET_SETTINGS, SETTINGS_BYTES).map_or((None, None), |block| link(&block, driver.as_deref()));
    Ok(Hardware {
        bits_per_second,
        is_full_duplex,
        mtu: syscall::interface_mtu(socket, interface).ok(),
        receive_ring,
        send_ring,
        offloads: OFFLOADS
            .iter()
            .filter_map(|(name, command)| Some(((*name).to_owned(), is_on(*command)?)))
            .collect(),
        driver,
    })
}

/// Sets how many descriptors the rings have; `None` leaves one as it is. Takes the right to administer networks, and many
/// drivers take the link down for a moment.
///
/// # Errors
/// The driver has no rings to set, or takes no such size.
pub fn set_rings(interface: &str, receive: Option<u32>, send: Option<u32>) -> io::Result<()> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut rings =
        ask(socket.as_fd(), interface, GET_RINGS, RING_BYTES).ok_or(io::ErrorKind::Unsupported)?;
    rings[..4].copy_from_slice(&SET_RINGS.to_ne_bytes());
    for (at, count) in [(20, receive), (32, send)] {
        if let Some(count) = count {
            rings[at..at + 4].copy_from_slice(&count.to_ne_bytes());
        }
    }
    syscall::ethtool(socket.as_fd(), interface, &mut rings)
}

/// What the driver answers; `None` if it does not.
fn ask(socket: BorrowedFd<'_>, interface: &str, command: u32, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    bytes[..4].copy_from_slice(&command.to_ne_bytes());
    syscall::ethtool(socket, interface, &mut bytes).ok()?;
    Some(bytes)
}

/// The rings of `struct ethtool_ringparam`, of what is received and of what is sent; a driver that has none reports zeroes.
fn rings(block: &[u8]) -> (Option<Ring>, Option<Ring>) {
    let ring = |most: usize, now: usize| {
        let ring = Ring { now: number(block, now), most: number(block, most) };
        (ring.most > 0).then_some(ring)
    };
    (ring(4, 20), ring(16, 32))
}

/// Speed and duplex of `struct ethtool_cmd`. All ones: not known.
fn link(block: &[u8], driver: Option<&str>) -> (Option<u64>, Option<bool>) {
    let half = |at: usize| u64::from(u16::from_ne_bytes([block[at], block[at + 1]]));
    let megabits = half(12) | half(28) << 16;
    let is_fiction = driver.is_some_and(|driver| {
        WITHOUT_LINE.contains(&driver) || driver == "tun" && SPEEDS_OF_TUN.contains(&megabits)
    });
    let is_known = megabits > 0 && megabits != u64::from(u16::MAX) && megabits != u64::from(u32::MAX);
    if is_fiction || !is_known {
        return (None, None);
    }
    let duplex = match block[14] {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    };
    (Some(megabits * 1_000_000), duplex)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_a_long_packet_and_offloads_and_no_rings() {
        let loopback = hardware("lo").expect("a socket");
        assert!(loopback.mtu.is_some_and(|mtu| mtu >= 1500), "{loopback:?}");
        assert_eq!((loopback.receive_ring, loopback.bits_per_second), (None, None));
        assert_eq!(hardware("no-such").expect("a socket"), Hardware::default());
        assert!(set_rings("lo", Some(512), None).is_err());
    }

    #[test]
    fn rings_are_read_as_a_driver_answers() {
        // What `ethtool -g` asks and shows: at most rx 4096, mini 0, jumbo 0, tx 4096; now 64, 0, 0, 128.
        let answer = [GET_RINGS, 4096, 0, 0, 4096, 64, 0, 0, 128].map(u32::to_ne_bytes).concat();
        assert_eq!(answer.len(), RING_BYTES);
        let (receive, send) = (Ring { now: 64, most: 4096 }, Ring { now: 128, most: 4096 });
        assert_eq!(rings(&answer), (Some(receive), Some(send)));
        assert_eq!(rings(&[0; RING_BYTES]), (None, None));
    }

    #[test]
    fn speed_and_duplex_are_believed_where_they_are_known() {
        let settings = |megabits: u32, duplex: u8| {
            let mut bytes = vec![0; SETTINGS_BYTES];
            bytes[12..14].copy_from_slice(&(megabits as u16).to_ne_bytes());
            bytes[28..30].copy_from_slice(&((megabits >> 16) as u16).to_ne_bytes());
            bytes[14] = duplex;
            bytes
        };
        let check = |megabits, duplex, driver, wanted| {
            assert_eq!(link(&settings(megabits, duplex), driver), wanted, "{megabits} {duplex} {driver:?}");
        };
        check(1000, 1, Some("e1000e"), (Some(1_000_000_000), Some(true)));
        check(100, 0, None, (Some(100_000_000), Some(false)));
        check(100_000, 1, None, (Some(100_000_000_000), Some(true)));
        check(u32::MAX, 255, None, (None, None));
        check(10, 1, Some("tun"), (None, None));
        check(10_000, 1, Some("tun"), (None, None));
        check(10_000, 1, Some("veth"), (None, None));
        check(10_000, 1, Some("bridge"), (None, None));
        check(1000, 1, Some("tun"), (Some(1_000_000_000), Some(true)));
    }
}
