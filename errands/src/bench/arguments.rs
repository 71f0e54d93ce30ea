//! What may be typed after `cargo xtask bench`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::floor::Job;

/// Arguments of `cargo xtask bench`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    pub(super) what: What,
}

#[derive(Debug, Subcommand)]
pub(super) enum What {
    /// Measure the server: its processor time per call and its rate, beside the floors
    Serve(Serve),
    /// Count the server's system calls per call, with strace
    Syscalls(Syscalls),
    /// Compare the rates of two servers, in turn: with a change, and without
    Compare(Compare),
    /// Measure what one mount keeps of its throughput and latency beside thousands of connections and of attackers
    Flood(Flood),
    /// Measure what a server takes that has nothing to do: wake-ups, processor time, memory
    Idle(Idle),
    /// A floor, started by `serve`
    #[command(hide = true)]
    Floor(Floor),
}

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Only these rows, by the start of their names, such as getattr,read
    #[arg(long, value_delimiter = ',', value_name = "ROW,…")]
    pub rows: Vec<String>,
    /// Times that every row is measured; the median is shown
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub runs: usize,
    /// How long each measurement lasts
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// Write every measurement to this file too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Measure the floors alone, without a server
    #[arg(long, conflicts_with = "Subject")]
    pub floors_only: bool,
    /// Put server, floors and load before other processes by so much (1 to 20, for root), on a machine that is shared
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..=20))]
    pub before_others: Option<i32>,
    #[command(flatten)]
    pub subject: Subject,
    /// Let the load throw READ data away inside the kernel, so that it costs the load nothing; it is still checked
    /// in its first bytes
    #[arg(long)]
    pub discard: bool,
}

#[derive(Debug, Args)]
pub(super) struct Syscalls {
    /// Only these rows, by the start of their names
    #[arg(long, value_delimiter = ',', value_name = "ROW,…")]
    pub rows: Vec<String>,
    /// Calls that are counted, after as many to warm up
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub calls: u64,
    #[command(flatten)]
    pub subject: Subject,
}

/// Which server.
#[derive(Debug, Args)]
#[group(id = "Subject", multiple = true)]
pub(super) struct Subject {
    /// Start this binary, instead of building howdah
    #[arg(long, value_name = "PATH", conflicts_with = "address")]
    pub server_bin: Option<PathBuf>,
    /// Further arguments of `serve` for the server that is started
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true, conflicts_with = "address")]
    pub server_argument: Vec<String>,
    /// Ask a server that runs already; it must export DIRECTORY, and root must be allowed to change it
    #[arg(long, value_name = "HOST:PORT", requires_all = ["pid", "directory"])]
    pub address: Option<SocketAddr>,
    /// Process id of that server
    #[arg(long, requires = "address")]
    pub pid: Option<i32>,
    /// Directory that the server exports; it is filled with what the rows need
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Name under which that server exports it
    #[arg(long, value_name = "NAME", default_value = "/")]
    pub export: String,
}

#[derive(Debug, Args)]
pub(super) struct Compare {
    /// The binary with the change
    #[arg(long, value_name = "PATH")]
    pub with: PathBuf,
    /// The binary without
    #[arg(long, value_name = "PATH")]
    pub without: PathBuf,
    /// These rows, by their names
    #[arg(long, value_delimiter = ',', value_name = "ROW,…", default_value = "getattr,read-1m,write-1m")]
    pub rows: Vec<String>,
    /// The least that the first may do of what the second does
    #[arg(long, default_value_t = 0.98, value_name = "RATIO")]
    pub least: f64,
    /// Times that each is measured; the median of the ratios is shown
    #[arg(long, default_value_t = 9, value_name = "N")]
    pub runs: usize,
    /// How long each measurement lasts
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// Times that both servers are started anew: the same binary, started twice, differs from itself by some percent for as long as it
    /// runs
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub starts: usize,
    /// Connections at once to one server, for rows that change nothing: over one, the server and the load take turns and wake each
    /// other; over several, the server always has something to do
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub connections: usize,
    /// Calls in flight on each connection, instead of as many as the row has
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub in_flight: Option<u32>,
}

#[derive(Debug, Args)]
pub(super) struct Flood {
    /// Connections that are open and do nothing
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub connections: usize,
    /// Attackers of each kind, who act once a second each
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub attackers: usize,
    /// Only these kinds, by the start of their names
    #[arg(long, value_delimiter = ',', value_name = "KIND,…")]
    pub kinds: Vec<String>,
    /// Times that each kind is met; medians are shown
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub runs: usize,
    /// How long each measurement lasts
    #[arg(long, default_value_t = 3.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// Start this binary, instead of building howdah
    #[arg(long, value_name = "PATH")]
    pub server_bin: Option<PathBuf>,
    /// Further arguments of `serve`
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub server_argument: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct Idle {
    /// Connections that are open and do nothing
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    pub connections: usize,
    /// Connections that each ask ten times a second
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub active: usize,
    /// How long each measurement lasts
    #[arg(long, default_value_t = 30.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// How long after the last call idle ones are measured
    #[arg(long, default_value_t = 20.0, value_name = "SECONDS")]
    pub settle: f64,
    /// Start this binary, instead of building howdah
    #[arg(long, value_name = "PATH")]
    pub server_bin: Option<PathBuf>,
    /// Further arguments of `serve`
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    pub server_argument: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct Floor {
    /// What to do
    pub job: Job,
    /// The export
    #[arg(long)]
    pub directory: PathBuf,
    /// The core to stay on
    #[arg(long)]
    pub core: usize,
}
