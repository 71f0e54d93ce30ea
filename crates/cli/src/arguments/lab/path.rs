//! What a path is like, as flags: the same words as in a plan.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "these are help texts for the screen: [path] is a table of a plan"
)]

use clap::Args;

/// Flags about the path.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Path")]
pub struct PathArguments {
    /// Start from this path: a name that `howdah lab paths` shows, or a file with a [path] as in a plan; the other flags
    /// change it [default: a perfect wire]
    #[arg(long, value_name = "NAME|FILE")]
    pub path: Option<String>,

    /// Round trip: half of it each way (30ms, 1.5s)
    #[arg(long, value_name = "TIME")]
    pub rtt: Option<String>,

    /// Rate of the link, including Ethernet framing (10Mbit, 2.5Gbit, unlimited)
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,

    /// Queue in front of the link: "1bdp" (times rate x round trip), 256KiB, "100 packets", codel
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,

    /// Share of frames lost, each independently (0.01%)
    #[arg(long, value_name = "PART")]
    pub loss: Option<String>,

    /// Loss in bursts: { loss = "1%", length = 4 }
    #[arg(long, value_name = "TABLE")]
    pub bursts: Option<String>,

    /// Delay each frame by up to this much more (1ms)
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,

    /// Share of frames that later frames overtake
    #[arg(long, value_name = "PART")]
    pub reorder: Option<String>,

    /// Share of frames that arrive twice
    #[arg(long, value_name = "PART")]
    pub duplicate: Option<String>,

    /// Share of frames that arrive damaged
    #[arg(long, value_name = "PART")]
    pub corrupt: Option<String>,

    /// The largest packet, IP header included [default: 1500]
    #[arg(long, value_name = "BYTES")]
    pub mtu: Option<String>,

    /// When the link is down ("down 2s every 30s")
    #[arg(long, value_name = "WHEN")]
    pub schedule: Option<String>,

    /// Override a setting from client to server: the name of a flag above without hyphens, or delay (rate=100Mbit)
    #[arg(long, value_name = "KEY=VALUE")]
    pub there: Vec<String>,

    /// Override a setting from server to client
    #[arg(long, value_name = "KEY=VALUE")]
    pub back: Vec<String>,

    /// Random seed: the same seed loses the same frames
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
