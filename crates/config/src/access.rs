//! Client rules of an export: access and squashing.

use std::fmt;

use clap::ValueEnum;
use howdah_server::exports::{SecurityFlavor, SecurityFlavors};

use super::ANONYMOUS;

/// Access and squashing of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAccess {
    /// Whether every change is refused.
    pub read_only: bool,
    /// Which calls must come from a port below 1024.
    pub privileged_ports: PrivilegedPorts,
    /// Whose calls act as the anonymous user.
    pub squash: Squash,
    /// User id of the anonymous user.
    pub anonymous_user: u32,
    /// Group id of the anonymous user.
    pub anonymous_group: u32,
    /// How calls prove who sent them.
    pub sec: SecurityFlavors,
}

/// Whose calls act as the anonymous user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Squash {
    /// A client's root; other users act as themselves
    Root,
    /// Every user
    All,
    /// No one; a client's root is root here
    None,
    /// Every call acts as the user that the client's certificate names (never root)
    Certificate,
}

/// Which calls must come from a port below 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrivilegedPorts {
    /// All
    Always,
    /// Those from this host, if howdah acts as its callers
    Local,
    /// None
    Never,
}

impl ClientAccess {
    /// What holds where nothing is said.
    pub fn usual() -> Self {
        Self {
            read_only: false,
            privileged_ports: PrivilegedPorts::Local,
            squash: Squash::Root,
            anonymous_user: ANONYMOUS,
            anonymous_group: ANONYMOUS,
            sec: SecurityFlavors::SYS,
        }
    }

    /// What both allow; `None`: they take no flavor in common. The anonymous user is this one's.
    pub fn and(self, other: Self) -> Option<Self> {
        let both = |flavor: &SecurityFlavor| other.sec.contains(*flavor);
        let sec = SecurityFlavors::new(self.sec.as_slice().iter().copied().filter(both))?;
        let squashes = [self.squash, other.squash];
        let ports = [self.privileged_ports, other.privileged_ports];
        let strictest = |words: [Squash; 3]| words.into_iter().find(|word| squashes.contains(word));
        Some(Self {
            sec,
            read_only: self.read_only || other.read_only,
            privileged_ports: if ports.contains(&PrivilegedPorts::Always) {
                PrivilegedPorts::Always
            } else if ports.contains(&PrivilegedPorts::Local) {
                PrivilegedPorts::Local
            } else {
                PrivilegedPorts::Never
            },
            squash: strictest([Squash::All, Squash::Certificate, Squash::Root]).unwrap_or(Squash::None),
            ..self
        })
    }
}

impl Squash {
    /// The word in the file.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_str(text, false).ok()
    }
}

impl fmt::Display for Squash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::All => "all",
            Self::None => "none",
            Self::Certificate => "certificate",
        })
    }
}
