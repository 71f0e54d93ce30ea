//! `howdah nfsstat`: what was typed.

use clap::Args;
use howdah_workload::FileSize;

use super::bench::ProfileName;
use super::quantity::{parse_factor, parse_file_size};

/// Show calls and retransmissions per procedure, as nfsstat -c does, for NFS and MOUNT
///
/// For an nfs:// URL, the calls that this program makes itself: those of mounting it, and of a workload if --run names
/// one. For "local", those of this machine's kernel since it started, and of each of its NFS mounts.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct NfsstatArguments {
    /// nfs://HOST/EXPORT, or local
    #[arg(value_name = "URL|local")]
    pub place: String,

    /// Run this classic measurement there, and show the calls that it took
    #[arg(long, value_name = "PROFILE")]
    pub run: Option<ProfileName>,

    /// Do so much of its amount of work (0.01 or 1%)
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor, requires = "run")]
    pub scale: Option<f64>,

    /// Size of each of its files
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size, requires = "run")]
    pub size: Option<FileSize>,

    /// Run it although the place holds something. What is there is left alone either way
    #[arg(long, requires = "run")]
    pub non_empty: bool,

    /// Print JSON, for machines
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  howdah nfsstat local
  howdah nfsstat 'nfs://server/export/empty?proto=udp' --run workq-2003
";
