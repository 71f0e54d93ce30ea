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

    /// Rate of the line, Ethernet's framing included (10Mbit, 2.5Gbit, unlimited)
    #[arg(long, value_name = "RATE")]
    pub rate: Option<String>,

    /// What may wait for the line: "1bdp" (times rate x round trip), 256KiB, "100 packets", codel
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,

    /// Part of the frames that is lost, each by itself (0.01%)
    #[arg(long, value_name = "PART")]
    pub loss: Option<String>,

    /// Loss in bursts: { loss = "1%", length = 4 }
    #[arg(long, value_name = "TABLE")]
    pub bursts: Option<String>,

    /// Each frame is late by up to so much (1ms)
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<String>,

    /// Part of the frames that others overtake
    #[arg(long, value_name = "PART")]
    pub reorder: Option<String>,

    /// Part of the frames that arrives twice
    #[arg(long, value_name = "PART")]
    pub duplicate: Option<String>,

    /// Part of the frames that arrives damaged
    #[arg(long, value_name = "PART")]
    pub corrupt: Option<String>,

    /// The largest packet, IP header included [default: 1500]
    #[arg(long, value_name = "BYTES")]
    pub mtu: Option<String>,

    /// When it is down ("down 2s every 30s")
    #[arg(long, value_name = "WHEN")]
    pub schedule: Option<String>,

    /// What is different from client to server, by the name of a flag above without its hyphens, or delay: rate=100Mbit
    #[arg(long, value_name = "KEY=VALUE")]
    pub there: Vec<String>,

    /// What is different from server to client
    #[arg(long, value_name = "KEY=VALUE")]
    pub back: Vec<String>,

    /// Where chance begins: the same seed loses the same frames
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}
