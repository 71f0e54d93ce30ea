//! Universal addresses (RFC 5665 5.2.3.3 and 5.2.3.4): the text of an IP address, then the two bytes of the port in
//! decimal, all joined by dots: `192.0.2.7.8.1` and `2001:db8::7.8.1` are port 2049.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// An address from rpcbind. The scope of a link-local IPv6 address has no place in it and is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UniversalAddress(pub SocketAddr);

impl UniversalAddress {
    /// The address in this text; `None` if it is none of the internet's.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(text).ok()?.rsplitn(3, '.');
        let (low, high) = (byte(parts.next()?)?, byte(parts.next()?)?);
        let address: IpAddr = parts.next()?.parse().ok()?;
        Some(Self(SocketAddr::new(address, u16::from_be_bytes([high, low]))))
    }
}

/// A decimal from 0 to 255, as digits alone: `"+7"`, which the standard library takes too, is none.
fn byte(text: &str) -> Option<u8> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl fmt::Display for UniversalAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [high, low] = self.0.port().to_be_bytes();
        write!(formatter, "{}.{high}.{low}", self.0.ip())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_families_come_back() {
        for (text, address) in [
            ("192.0.2.7.8.1", "192.0.2.7:2049"),
            ("0.0.0.0.0.111", "0.0.0.0:111"),
            ("::.0.111", "[::]:111"),
            ("2001:db8::7.255.255", "[2001:db8::7]:65535"),
            ("::ffff:192.0.2.7.8.1", "[::ffff:192.0.2.7]:2049"),
        ] {
            let address = UniversalAddress(address.parse().expect("a socket address"));
            assert_eq!(UniversalAddress::parse(text.as_bytes()), Some(address));
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_none() {
        for text in
            ["", ".", "..", "1.2", "1.2.3.4", "1.2.3.4.5", "1.2.3.4.5.256", "1.2.3.4.+5.6", "1.2.3.4.5.6.7"]
        {
            assert_eq!(UniversalAddress::parse(text.as_bytes()), None, "{text}");
        }
        for text in
            ["/run/rpcbind.sock", "::1%lo.8.1", "1.2.3.4..6", "1.2.3.4.5.", "256.2.3.4.5.6", " 1.2.3.4.5.6"]
        {
            assert_eq!(UniversalAddress::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(UniversalAddress::parse(b"1.2.3.4.5.\xff"), None);
    }
}
