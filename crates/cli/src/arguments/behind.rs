//! `howdah sync` and `howdah refused`: what was typed.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Wait until everything that was changed on a mount is safe on its server
///
/// For mounts with -o behind, where changes of names and small files are answered before the server has them. On other mounts
/// there is nothing to wait for after close. With a URL it sends what a journal holds of a mount that was killed or unmounted
/// while the server was down.
///
/// sync(1) and sync -f do not do this: the kernel does not pass them to a FUSE mount. fsync of the mount's root does.
#[derive(Debug, Args)]
#[command(after_help = SYNC_EXAMPLES)]
pub struct SyncArguments {
    /// A file or directory on the mount (its root for everything), or the URL whose journal is to be sent
    #[arg(value_name = "DIR|URL")]
    pub target: PathBuf,

    /// Directory of the journals, if the mount had -o journal=DIR
    #[arg(long, value_name = "DIR")]
    pub journals: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Where running mounts are noted [default: /run/howdah, or $XDG_RUNTIME_DIR/howdah for users]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

/// List, save, retry or drop changes that a server refused after programs had been answered
///
/// With mount -o behind, a server may refuse a change after its program went on: the disk is full, a quota is exceeded, rights
/// were taken away. Nothing of it is thrown away: its content, path and reason are kept on this host.
#[derive(Debug, Args)]
#[command(after_help = REFUSED_EXAMPLES)]
pub struct RefusedArguments {
    /// What to do [default: list]
    #[command(subcommand)]
    pub command: Option<RefusedCommand>,

    /// Directory of the journals, if the mount had -o journal=DIR
    #[arg(long, value_name = "DIR", global = true)]
    pub journals: Option<PathBuf>,

    /// Where running mounts are noted [default: /run/howdah, or $XDG_RUNTIME_DIR/howdah for users]
    #[arg(long, value_name = "DIR", global = true)]
    pub state: Option<PathBuf>,
}

/// What to do with refused changes.
#[derive(Debug, Subcommand)]
pub enum RefusedCommand {
    /// List them
    List {
        /// Print JSON, for machines
        #[arg(long)]
        json: bool,
    },
    /// Copy the content of refused files into a local directory
    Save {
        /// Where to; no file there is replaced
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Which, as listed; all if none is named
        #[arg(value_name = "NUMBER")]
        numbers: Vec<String>,
    },
    /// Make them once more on the mount, and wait for the server
    Retry {
        /// Which, as listed; all if none is named
        #[arg(value_name = "NUMBER")]
        numbers: Vec<String>,
    },
    /// Throw them away
    Drop {
        /// Which, as listed
        #[arg(value_name = "NUMBER", required_unless_present = "all")]
        numbers: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with = "numbers")]
        all: bool,
    },
}

const SYNC_EXAMPLES: &str = "\
Examples:
  howdah sync /mnt/data
  howdah sync nfs://server/data
      Sends what a mount of this URL left in its journal; howdah mounts lists such journals.

Exit code: 0 all is safe on the server, 1 a change was refused or nothing could be sent (the reason is printed), 2 wrong arguments.
";

const REFUSED_EXAMPLES: &str = "\
Examples:
  howdah refused
  howdah refused save /tmp/rescued
  howdah refused retry 3f2a-1
  howdah refused drop --all

Exit code: 0 success, 1 something could not be done (the reason is printed), 2 wrong arguments.
";
