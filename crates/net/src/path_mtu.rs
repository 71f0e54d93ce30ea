//! The most bytes in one packet on the way to a host, as far as the kernel knows: its route, and what it has learned of the path.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::IpMtu;

/// Where the kernel does not know it: an Ethernet's.
pub(crate) const USUAL_MTU: usize = 1500;

/// That to this address. Nothing is sent: a socket is connected, which looks up the route, and closed.
pub fn path_mtu(to: SocketAddr) -> usize {
    connected(to).ok().and_then(|socket| of_connected(&socket)).unwrap_or(USUAL_MTU)
}

/// Our address on the way to this one, if there is a way. Nothing is sent.
pub fn own_address(to: SocketAddr) -> io::Result<IpAddr> {
    Ok(connected(to)?.local_addr()?.ip())
}

fn connected(to: SocketAddr) -> io::Result<UdpSocket> {
    let any = if to.is_ipv4() {
        SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))
    } else {
        SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0))
    };
    let socket = UdpSocket::bind(any)?;
    socket.connect(to)?;
    Ok(socket)
}

/// That of a connected socket, if the kernel knows it.
pub(crate) fn of_connected(socket: &impl AsFd) -> Option<usize> {
    getsockopt(socket, IpMtu).ok().and_then(|mtu| usize::try_from(mtu).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_loopback_we_come_from_loopback() {
        let own = own_address("127.0.0.1:9".parse().expect("an address")).expect("a way");
        assert_eq!(own, IpAddr::from(Ipv4Addr::LOCALHOST));
    }

    #[test]
    fn loopback_has_the_longest_packets() {
        for address in ["127.0.0.1:9", "[::1]:9"] {
            let mtu = path_mtu(address.parse().expect("an address"));
            assert!(
                mtu >= 65_535 || mtu == USUAL_MTU,
                "{address}: {mtu}; the usual one only where it has no route"
            );
        }
    }
}
