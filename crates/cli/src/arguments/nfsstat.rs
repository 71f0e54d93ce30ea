//! `howdah nfsstat`: what was typed.

use clap::Args;
use howdah_workload::FileSize;

use super::bench::ProfileName;
use super::quantity::{parse_factor, parse_file_size};

/// Show calls and retransmissions per procedure, as nfsstat -c does, for NFS and MOUNT
///
/// For an nfs:// URL it shows the calls that it makes itself: those of mounting, and of a workload with --run. For "local" it
/// shows the calls of this machine's kernel since boot, and of each NFS mount.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct NfsstatArguments {
    /// nfs://HOST/EXPORT, or local
    #[arg(value_name = "URL|local")]
    pub place: String,

    /// Run this classic benchmark there, and show its calls
    #[arg(long, value_name = "PROFILE")]
    pub run: Option<ProfileName>,

    /// Scale its amount of work (0.01 or 1%)
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor, requires = "run")]
    pub scale: Option<f64>,

    /// Size of each of its files
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size, requires = "run")]
    pub size: Option<FileSize>,

    /// Run it although the place is not empty. Existing files are never changed
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
