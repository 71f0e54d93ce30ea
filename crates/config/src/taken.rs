//! Addresses that the server itself takes: each once, or it would find its own socket in its way.

use std::net::{IpAddr, SocketAddr};

/// What was taken, by which setting.
#[derive(Debug, Default)]
pub struct Taken(Vec<(&'static str, SocketAddr)>);

impl Taken {
    /// Takes an address for a setting.
    ///
    /// # Errors
    /// Another setting has it; it is named.
    pub fn take(&mut self, setting: &'static str, address: SocketAddr) -> Result<(), String> {
        let clash = self.0.iter().find(|(_, other)| overlap(*other, address)).copied();
        self.0.push((setting, address));
        match clash {
            None => Ok(()),
            Some((first, other)) if first == setting && other == address => {
                Err(format!("{address} is given twice; leave one out"))
            }
            Some((first, other)) => {
                Err(format!("{address} is taken: `{first}` has {other}; give one of them another port"))
            }
        }
    }
}

/// Whether both cannot be listened on. `[::]` takes IPv4 too; port 0 is always another.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let takes = |one: SocketAddr, other: SocketAddr| match one.ip() {
        IpAddr::V6(address) if address.is_unspecified() => true,
        IpAddr::V4(address) if address.is_unspecified() => other.ip().to_canonical().is_ipv4(),
        address => address.to_canonical() == other.ip().to_canonical() && scope(one) == scope(other),
    };
    one.port() != 0 && one.port() == other.port() && (takes(one, other) || takes(other, one))
}

/// Which interface an address of the link is of.
fn scope(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V6(address) => address.scope_id(),
        SocketAddr::V4(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_given_twice_is_no_clash_of_two() {
        let mut taken = Taken::default();
        let address = "[::]:3000".parse().expect("an address");
        taken.take("listen", address).expect("the first");
        assert_eq!(taken.take("listen", address), Err("[::]:3000 is given twice; leave one out".to_owned()));
    }

    #[test]
    fn an_address_is_taken_once() {
        for (one, other, clash) in [
            ("127.0.0.1:3000", "127.0.0.1:3000", true),
            ("127.0.0.1:3000", "127.0.0.1:3001", false),
            ("127.0.0.1:3000", "127.0.0.2:3000", false),
            ("127.0.0.1:0", "127.0.0.1:0", false),
            ("[::]:3000", "127.0.0.1:3000", true),
            ("127.0.0.1:3000", "0.0.0.0:3000", true),
            ("0.0.0.0:3000", "[::1]:3000", false),
            ("[::ffff:127.0.0.1]:3000", "127.0.0.1:3000", true),
            ("[fe80::1%1]:3000", "[fe80::1%2]:3000", false),
        ] {
            let mut taken = Taken::default();
            let parse = |text: &str| text.parse().expect("an address");
            taken.take("listen", parse(one)).expect("the first");
            let second = taken.take("metrics", parse(other));
            assert_eq!(second.is_err_and(|why| why.contains("`listen` has")), clash, "{one} {other}");
        }
    }
}
