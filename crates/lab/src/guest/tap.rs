//! A guest's way into a network: a tap device in the namespace of the host that it stands behind.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A tap device, and the addresses at its two ends. Each guest of a network has a number of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tap {
    number: u8,
}

impl Tap {
    /// The tap of the guest of this number.
    pub const fn new(number: u8) -> Self {
        Self { number }
    }

    /// Its name.
    pub fn name(self) -> String {
        format!("guest{}", self.number)
    }

    /// The address of the host's end.
    pub fn gateway(self) -> Ipv4Addr {
        Ipv4Addr::new(10, 78, self.number, 1)
    }

    /// The guest's address.
    pub fn guest(self) -> Ipv4Addr {
        Ipv4Addr::new(10, 78, self.number, 2)
    }

    /// The IPv6 address of the host's end.
    pub fn gateway6(self) -> Ipv6Addr {
        Ipv6Addr::new(0xfd78, self.number.into(), 0, 0, 0, 0, 0, 1)
    }

    /// The guest's IPv6 address.
    pub fn guest6(self) -> Ipv6Addr {
        Ipv6Addr::new(0xfd78, self.number.into(), 0, 0, 0, 0, 0, 2)
    }

    /// The network that the guest is in, for routes to it.
    pub fn network(self) -> String {
        format!("10.78.{}.0/24", self.number)
    }

    /// The same of IPv6.
    pub fn network6(self) -> String {
        format!("fd78:{:x}::/64", self.number)
    }

    /// What makes it, as words of commands that run in the namespace of the host that it is behind.
    pub fn commands(self) -> Vec<Vec<String>> {
        let name = self.name();
        let (here, here6) = (self.gateway(), self.gateway6());
        [
            format!("ip tuntap add dev {name} mode tap"),
            format!("ip addr add {here}/24 dev {name}"),
            format!("ip -6 addr add {here6}/64 dev {name} nodad"),
            format!("ip link set {name} up"),
        ]
        .iter()
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect()
    }

    /// The commands that give another host the route to the guest: through `device`.
    pub fn route_commands(self, device: &str) -> Vec<Vec<String>> {
        [
            format!("ip route add {} dev {device}", self.network()),
            format!("ip -6 route add {} dev {device}", self.network6()),
        ]
        .iter()
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect()
    }
}

/// Runs commands where `start` starts them.
pub fn run_all(commands: &[Vec<String>], start: impl Fn(&str) -> Command) -> Result<()> {
    for words in commands {
        let (program, arguments) = words.split_first().context("an empty command")?;
        let output = start(program)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("starting {program}"))?;
        if !output.status.success() {
            bail!("{}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_do_not_share_addresses() {
        let (first, second) = (Tap::new(0), Tap::new(1));
        assert_eq!(first.guest().to_string(), "10.78.0.2");
        assert_eq!(second.guest6().to_string(), "fd78:1::2");
        assert_ne!(first.network(), second.network());
        assert_ne!(first.name(), second.name());
    }

    #[test]
    fn the_commands() {
        assert_eq!(Tap::new(0).commands()[0].join(" "), "ip tuntap add dev guest0 mode tap");
        assert_eq!(Tap::new(1).route_commands("path0")[0].join(" "), "ip route add 10.78.1.0/24 dev path0");
    }

    #[test]
    fn a_command_that_fails_is_named_with_what_it_said() {
        let commands = [vec!["ls".to_owned(), "/nowhere-at-all".to_owned()]];
        let error = run_all(&commands, |program| Command::new(program)).expect_err("a failure");
        assert!(error.to_string().starts_with("ls /nowhere-at-all: "), "{error}");
    }
}
