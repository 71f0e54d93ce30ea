//! UADDR2TADDR and TADDR2UADDR: an address as text and as the `sockaddr` of this host's system (RFC 1833 2.2.1).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use howdah_wire::rpcbind::{Text, UniversalAddress, taddr2uaddr, uaddr2taddr};
use howdah_wire::xdr::Decode;

use super::Portmap;
use crate::program::Refusal;
use crate::{Reply, Request};

/// `AF_INET` of Linux.
const INET: u16 = 2;
/// `AF_INET6` of Linux.
const INET6: u16 = 10;
/// Length of a `sockaddr_in`: family, port, address, eight bytes of nothing.
const INET_SIZE: usize = 16;
/// Length of a `sockaddr_in6`: family, port, flow, address, scope.
const INET6_SIZE: usize = 28;

/// Answers UADDR2TADDR; without bytes if that is no address of the internet.
pub fn from_universal(_: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let arguments = uaddr2taddr::Arguments::decode(&mut request.arguments)?;
    let bytes =
        UniversalAddress::parse(arguments.address.0).map(|address| to_bytes(address.0)).unwrap_or_default();
    reply.write(&uaddr2taddr::TransportAddress { room: bytes.len() as u32, bytes: &bytes });
    Ok(())
}

/// Answers TADDR2UADDR; with an empty text if those bytes are no address of the internet.
pub fn to_universal(_: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let arguments = taddr2uaddr::Arguments::decode(&mut request.arguments)?;
    let address = from_bytes(arguments.address.bytes).map(|address| UniversalAddress(address).to_string());
    reply.write(&taddr2uaddr::Reply { address: Text::from(address.unwrap_or_default().as_str()) });
    Ok(())
}

fn to_bytes(address: SocketAddr) -> Vec<u8> {
    let port = address.port().to_be_bytes();
    match address.ip() {
        IpAddr::V4(address) => [&INET.to_ne_bytes()[..], &port, &address.octets(), &[0; 8]].concat(),
        IpAddr::V6(address) => {
            [&INET6.to_ne_bytes()[..], &port, &[0; 4], &address.octets(), &[0; 4]].concat()
        }
    }
}

fn from_bytes(bytes: &[u8]) -> Option<SocketAddr> {
    let pair = |at: usize| bytes.get(at..at + 2).map(|pair| [pair[0], pair[1]]);
    let (family, port) = (u16::from_ne_bytes(pair(0)?), u16::from_be_bytes(pair(2)?));
    let address = match (family, bytes.len()) {
        (INET, INET_SIZE) => Ipv4Addr::from(<[u8; 4]>::try_from(&bytes[4..8]).ok()?).into(),
        (INET6, INET6_SIZE) => Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[8..24]).ok()?).into(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for (text, length) in [("192.0.2.7:2049", INET_SIZE), ("[2001:db8::7]:111", INET6_SIZE)] {
            let address = text.parse().expect("an address");
            let bytes = to_bytes(address);
            assert_eq!(bytes.len(), length);
            assert_eq!(from_bytes(&bytes), Some(address));
            (0..length).for_each(|end| assert_eq!(from_bytes(&bytes[..end]), None, "cut at {end}"));
        }
    }
}
