//! A setting worth changing, as a command, with its reason and the command that undoes it.

use serde::Serialize;

/// What would mend something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Remedy {
    /// A setting of this host's kernel.
    Sysctl {
        /// Its name, as `net.ipv4.tcp_wmem`.
        name: String,
        /// What it is.
        now: String,
        /// What it should be.
        wanted: String,
        /// What for.
        why: String,
    },
    /// The rings of an interface of this host.
    Rings {
        /// The interface.
        interface: String,
        /// Of what is received: how many now, how many it should be.
        receive: Option<(u32, u32)>,
        /// Of what is sent.
        send: Option<(u32, u32)>,
        /// What for.
        why: String,
    },
    /// How far the kernel reads ahead on a mount of this host.
    ReadAhead {
        /// The number of the mount's device, as `0:47`.
        device: String,
        /// Where it is mounted.
        mount: String,
        /// KiB now.
        now: u64,
        /// KiB that it should be.
        wanted: u64,
        /// What for.
        why: String,
    },
    /// What only a person can do: on another host, or to a mount that is in use.
    Advice {
        /// What to do.
        what: String,
        /// What for.
        why: String,
        /// How to undo it, where that is not plain.
        undo: Option<String>,
    },
}

impl Remedy {
    /// Whether it can be made from here.
    pub fn can_be_applied(&self) -> bool {
        !matches!(self, Self::Advice { .. })
    }

    /// The command, or what to do.
    pub fn command(&self) -> String {
        match self {
            Self::Sysctl { name, wanted, .. } => sysctl(name, wanted),
            Self::Rings { interface, receive, send, .. } => {
                rings(interface, receive.map(|both| both.1), send.map(|both| both.1))
            }
            Self::ReadAhead { device, wanted, .. } => read_ahead(device, *wanted),
            Self::Advice { what, .. } => what.clone(),
        }
    }

    /// The command that undoes it.
    pub fn undo(&self) -> Option<String> {
        match self {
            Self::Sysctl { name, now, .. } => Some(sysctl(name, now)),
            Self::Rings { interface, receive, send, .. } => {
                Some(rings(interface, receive.map(|both| both.0), send.map(|both| both.0)))
            }
            Self::ReadAhead { device, now, .. } => Some(read_ahead(device, *now)),
            Self::Advice { undo, .. } => undo.clone(),
        }
    }

    /// What it is good for.
    pub fn why(&self) -> &str {
        match self {
            Self::Sysctl { why, .. }
            | Self::Rings { why, .. }
            | Self::ReadAhead { why, .. }
            | Self::Advice { why, .. } => why,
        }
    }

    /// Whether both do the same, for whatever reason.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.command() == other.command()
    }
}

fn sysctl(name: &str, value: &str) -> String {
    if value.contains(char::is_whitespace) {
        format!("sysctl -w {name}='{value}'")
    } else {
        format!("sysctl -w {name}={value}")
    }
}

fn rings(interface: &str, receive: Option<u32>, send: Option<u32>) -> String {
    let one =
        |word: &str, count: Option<u32>| count.map_or(String::new(), |count| format!(" {word} {count}"));
    format!("ethtool -G {interface}{}{}", one("rx", receive), one("tx", send))
}

fn read_ahead(device: &str, kibibytes: u64) -> String {
    format!("echo {kibibytes} > /sys/class/bdi/{device}/read_ahead_kb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_command_and_one_that_undoes_it() {
        let why = || "to see".to_owned();
        let sysctl = Remedy::Sysctl {
            name: "net.ipv4.tcp_wmem".to_owned(),
            now: "4096 16384 212992".to_owned(),
            wanted: "4096 16384 4194304".to_owned(),
            why: why(),
        };
        assert_eq!(sysctl.command(), "sysctl -w net.ipv4.tcp_wmem='4096 16384 4194304'");
        assert_eq!(sysctl.undo().as_deref(), Some("sysctl -w net.ipv4.tcp_wmem='4096 16384 212992'"));
        let rings =
            Remedy::Rings { interface: "eth0".to_owned(), receive: Some((64, 4096)), send: None, why: why() };
        assert_eq!(rings.command(), "ethtool -G eth0 rx 4096");
        assert_eq!(rings.undo().as_deref(), Some("ethtool -G eth0 rx 64"));
        let advice = Remedy::Advice { what: "mount with nconnect=8".to_owned(), why: why(), undo: None };
        assert!(rings.can_be_applied() && !advice.can_be_applied() && !rings.is_same_as(&advice));
    }
}
