//! What a topology must be like to be built.

use anyhow::{Result, ensure};

use super::Topology;

/// An interface's name has so many bytes at most.
const WIRE_NAME_MOST: usize = 15;
/// A label of a host's name has so many (RFC 1123 section 2.1).
const HOST_NAME_MOST: usize = 63;
/// Wires have numbers of one byte in their addresses.
const WIRES_MOST: usize = 255;

impl Topology {
    /// Says what is wrong with it.
    pub(crate) fn check(&self) -> Result<()> {
        for host in self.hosts.keys() {
            ensure!(is_name(host, HOST_NAME_MOST), "host {host:?}: a name is of a-z, 0-9 and hyphens");
        }
        ensure!(self.wires.len() <= WIRES_MOST, "{} wires; there are at most {WIRES_MOST}", self.wires.len());
        for (name, wire) in &self.wires {
            ensure!(
                is_name(name, WIRE_NAME_MOST) && name != "lo",
                "wire {name:?}: a name is of a-z, 0-9 and hyphens, at most {WIRE_NAME_MOST} of them, and not lo"
            );
            for host in &wire.between {
                ensure!(self.hosts.contains_key(host), "wire {name}: there is no host {host:?}");
            }
            ensure!(wire.between[0] != wire.between[1], "wire {name}: both ends at {}", wire.between[0]);
        }
        Ok(())
    }
}

fn is_name(name: &str, most: usize) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.len() <= most && !name.starts_with('-') && name.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::WireSpec;

    #[test]
    fn what_cannot_be_built_is_said() {
        assert!(Topology::default().check().is_ok());
        let wire =
            |between: [&str; 2]| WireSpec { between: between.map(str::to_owned), ..WireSpec::default() };
        for (name, wire, said) in [
            ("lo", wire(["client", "server"]), "not lo"),
            ("path0-is-too-long", wire(["client", "server"]), "at most 15"),
            ("path/1", wire(["client", "server"]), "a-z"),
            ("path1", wire(["client", "nobody"]), "no host \"nobody\""),
            ("path1", wire(["client", "client"]), "both ends at client"),
        ] {
            let mut topology = Topology::default();
            topology.wires.insert(name.to_owned(), wire);
            let error = topology.check().expect_err(name).to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
