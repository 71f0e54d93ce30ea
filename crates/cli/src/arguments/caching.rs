//! Flags of the caches before another server's export.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::quantity::{parse_believed, parse_cache_memory, parse_cache_size};

/// How an export of another server is cached.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = "Caches (for nfs://HOST/EXPORT)")]
pub struct CachingArguments {
    /// Memory for cached data: half for read-ahead, half for writes that are not yet safe on the other server [default: 512M]
    #[arg(long, value_name = "SIZE", value_parser = parse_cache_memory, conflicts_with = "config")]
    pub cache_memory: Option<u64>,

    /// Keep data that was read in this directory on disk, over restarts
    ///
    /// Each file is checked with the other server before its data is used. Data is stored unencrypted, for the user of this process
    /// alone. One process can use a directory.
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub cache_dir: Option<PathBuf>,

    /// Max space for it on the disk; 5 % of the disk always stay free [default: 20G]
    #[arg(long, value_name = "SIZE", value_parser = parse_cache_size, requires = "cache_dir", conflicts_with = "config")]
    pub cache_size: Option<u64>,

    /// How long to cache attributes, names and permissions [default: 3 s for files and 30 s for directories after a change,
    /// doubling to 60 s while nothing changes]
    ///
    /// Sets the four times below. Clients of this server see each other's changes at once; changes made on the other server may
    /// appear this much later. 0 asks the other server every time.
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with = "config")]
    pub actimeo: Option<Duration>,

    /// Min cache time for files [default: 3 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acregmin: Option<Duration>,

    /// Max cache time for files [default: 60 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acregmax: Option<Duration>,

    /// Min cache time for directories [default: 30 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acdirmin: Option<Duration>,

    /// Max cache time for directories [default: 60 s]
    #[arg(long, value_name = "TIME", value_parser = parse_believed, conflicts_with_all = ["config", "actimeo"])]
    pub acdirmax: Option<Duration>,
}
