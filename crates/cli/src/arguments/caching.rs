//! Flags of the caches before another server's export.

use std::time::Duration;

use clap::Args;

use super::quantity::{parse_believed, parse_cache_memory};

/// How an export of another server is cached.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "Caches (for nfs://HOST/EXPORT)")]
pub struct CachingArguments {
    /// Memory for cached data: half of it for what is read ahead, half for what is written and not yet safe on the other
    /// server [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = parse_cache_memory, conflicts_with = "config")]
    pub cache_memory: Option<u64>,

    /// For how long attributes, names and rights are believed before the other server is asked again [default: 3 s for
    /// files and 30 s for directories after a change, doubling to 60 s while nothing changes]
    ///
    /// Sets the four times below at once. Clients of this server see each other's changes at once; this is how late they
    /// may see changes that others make on the other server. 0 asks every time.
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with = "config")]
    pub actimeo: Option<Duration>,

    /// The shortest such time of a file [default: 3 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acregmin: Option<Duration>,

    /// The longest such time of a file [default: 60 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acregmax: Option<Duration>,

    /// The shortest such time of a directory [default: 30 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acdirmin: Option<Duration>,

    /// The longest such time of a directory [default: 60 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acdirmax: Option<Duration>,
}
