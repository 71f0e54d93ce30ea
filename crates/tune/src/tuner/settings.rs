//! What holds for all connections.

use crate::budget::{Budget, HostMemory};
use crate::host::Host;
use crate::{Algorithm, Setting};

/// What a tuner goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What the host lets us do.
    pub host: Host,
    /// What memory it has.
    pub memory: HostMemory,
    /// What part of it is ours.
    pub budget: Budget,
    /// The send buffer of each connection.
    pub send_buffer: Setting,
    /// The receive buffer of each connection.
    pub receive_buffer: Setting,
    /// By what each connection sends; automatic: by what suits its peer.
    pub congestion: Setting<Algorithm>,
}

impl Settings {
    /// Everything automatic.
    pub fn automatic(host: Host, memory: HostMemory) -> Self {
        let budget = Budget::of(&memory);
        Self {
            host,
            memory,
            budget,
            send_buffer: Setting::Auto,
            receive_buffer: Setting::Auto,
            congestion: Setting::Auto,
        }
    }
}
