//! A lock manager or status monitor of this host that is registered already.

use std::fmt;

use howdah_wire::nlm;

/// A lock manager (NLM) or status monitor (NSM) of this host, which keeps its place with rpcbind. Clients find that one, so this server
/// can lock nothing for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherLocks {
    /// The program.
    pub program: u32,
    /// The port that is registered for it.
    pub port: u16,
}

impl fmt::Display for OtherLocks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.program == nlm::PROGRAM { "lock manager" } else { "status monitor (statd)" };
        write!(
            formatter,
            "this host's own {what} is registered with rpcbind (program {}, port {})",
            self.program, self.port
        )
    }
}
