//! How a channel behaves.

use std::time::Duration;

use howdah_rpc::client::core::Patience;
use howdah_rpc::client::lanes::{Lanes, SILENCE};
use howdah_tls::ClientTls;
use howdah_tune::flight::Bounds;

/// What can be chosen of a channel.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelOptions {
    /// How many connections.
    pub lanes: Lanes,
    /// How long a call waits for a server that does not answer.
    pub patience: Patience,
    /// How many bulk calls are in flight at once; without a choice, what the path is measured to hold.
    pub in_flight: Option<usize>,
    /// Bytes of bulk data that may be in flight at once, whatever the path holds.
    pub memory_budget: usize,
    /// The size of READs and WRITEs to begin with over datagrams, in bytes; without a choice, what fits one packet. It grows
    /// and falls with what the path is seen to carry.
    pub first_transfer: Option<usize>,
    /// What every connection is secured by, and the program (its number and version) whose NULL call begins that. Without it, calls
    /// go in the clear. With it, none does.
    pub tls: Option<(ClientTls, (u32, u32))>,
    /// Whether to start from what other channels of this process found of the path, or with several connections if none did and it is
    /// long; and to remember what this one finds.
    pub remembers_path: bool,
    /// Whether to come from a port below 1024 where that is allowed, as servers that export `secure` demand.
    pub reserved_port: bool,
    /// How long one attempt to connect may take.
    pub connect_timeout: Duration,
    /// How long a server may say nothing at all while calls wait before its connection is made anew and the calls are
    /// sent again.
    pub silence: Duration,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        Self {
            lanes: Lanes::Auto,
            patience: Patience::Hard,
            in_flight: None,
            memory_budget: Bounds::default().memory_budget,
            first_transfer: None,
            tls: None,
            remembers_path: false,
            reserved_port: true,
            connect_timeout: Duration::from_secs(10),
            silence: SILENCE,
        }
    }
}
