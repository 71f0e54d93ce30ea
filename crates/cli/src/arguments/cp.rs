//! `howdah cp`: what was typed.

use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use howdah_daemon::places::Location;

use super::patterns::PatternArguments;
use super::quantity::parse_copy_rate;

/// Copy files and directories between local paths and nfs:// URLs, in either direction
///
/// Copies many files, and many parts of one file, at the same time. A file gets its name when it is complete; until then it is
/// .NAME.howdah-partial-ID in the same directory. If the copy is interrupted, even by a crash, the same command resumes where
/// it stopped. Existing files with equal size and modification time are skipped.
///
/// Keeps times, permission bits, hard links, symbolic links and holes, and owners if root copies. From a server to this
/// machine, it leaves out set-ID bits and devices unless you pass --set-id or --devices.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, override_usage = "howdah cp [OPTIONS] <SOURCE>... <DESTINATION>")]
pub struct CpArguments {
    /// Sources, and the destination last: paths, nfs:// URLs or HOST:/PATH. An existing directory as destination receives the
    /// copies
    #[arg(value_name = "PLACE", required = true, num_args = 2..)]
    pub places: Vec<Location>,

    /// Copy directories and everything in them
    #[arg(short, long, visible_short_alias = 'R', short_alias = 'a')]
    pub recursive: bool,

    /// Copy to the destination itself, not into it, even if it is an existing directory
    #[arg(short = 'T', long)]
    pub no_target_directory: bool,

    /// Stay on the file system of each SOURCE
    #[arg(short = 'x', long)]
    pub one_file_system: bool,

    /// Which files are replaced.
    #[command(flatten)]
    pub existing: ExistingArguments,

    /// Which names are copied, and which are deleted.
    #[command(flatten)]
    pub select: SelectArguments,

    /// What is kept of a file.
    #[command(flatten)]
    pub keep: KeepArguments,

    /// How it runs.
    #[command(flatten)]
    pub run: RunArguments,
}

/// Flags about files that are there already.
#[derive(Debug, Args)]
#[command(next_help_heading = "Existing files")]
pub struct ExistingArguments {
    /// Keep every file that exists
    #[arg(short, long, conflicts_with_all = ["update", "ignore_times", "checksum"])]
    pub no_clobber: bool,

    /// Replace only files that are older than the source
    #[arg(short, long, conflicts_with_all = ["ignore_times", "checksum"])]
    pub update: bool,

    /// Replace files of equal size and time, too
    #[arg(short = 'I', long, conflicts_with = "checksum")]
    pub ignore_times: bool,

    /// Compare files of equal size by content instead of time; this reads both
    #[arg(short, long)]
    pub checksum: bool,
}

/// Flags about which names are copied, and which are deleted.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is copied")]
pub struct SelectArguments {
    /// --exclude and --include.
    #[command(flatten)]
    pub patterns: PatternArguments,

    /// After copying, delete from the copied directories what the source does not have
    ///
    /// Excluded names stay, and so do partial files of interrupted copies and, with -x, file systems mounted below the
    /// destination. A name of another type than in the source is replaced. Nothing is deleted if any part of the source could
    /// not be read. If the source is empty, perhaps because its disk is not mounted, only --delete=all deletes.
    #[arg(
        long,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "extra",
        hide_possible_values = true,
        requires = "recursive",
        conflicts_with = "no_clobber"
    )]
    pub delete: Option<Deleted>,

    /// Delete at most this many names, and report an error if there are more
    #[arg(long, value_name = "N", requires = "delete")]
    pub max_delete: Option<u64>,

    /// Print what would be copied and deleted, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Flags about what is kept of a file beside its data.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is kept")]
pub struct KeepArguments {
    /// Same as the default, for users of cp: keeps all of this anyway (owners need root)
    #[arg(short, long, hide_short_help = true)]
    pub preserve: bool,

    /// Do not keep these, separated by commas. Without mode, the umask applies; without timestamps, a restarted copy copies
    /// finished files again
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub no_preserve: Vec<Kept>,

    /// From a server to this machine: keep the set-user-ID and set-group-ID bits of files, by which a program runs as its owner
    #[arg(long)]
    pub set_id: bool,

    /// From a server to this machine: create block and character devices
    #[arg(long)]
    pub devices: bool,

    /// Keep POSIX ACLs of files and directories, where source and destination have them: local disks, and NFSv3 servers with ACLs
    #[arg(short = 'A', long)]
    pub acls: bool,

    /// Keep user extended attributes, where source and destination have them: local disks, and NFSv4.2 servers
    #[arg(short = 'X', long)]
    pub xattrs: bool,

    /// Which zeros become holes: those in files that have holes (auto), in all files (always), or none (never)
    ///
    /// A hole is at least 64 KiB of zeros, aligned to 4 KiB. With auto, only files that use less storage than their size get
    /// holes.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub sparse: SparseWhen,
}

/// Flags about how it runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it runs")]
pub struct RunArguments {
    /// Read every copied file back from both sides and compare, before it gets its name
    #[arg(long)]
    pub verify: bool,

    /// Max rate of file data per second, as in 100M or 10Mbit (rsync: --bwlimit)
    #[arg(long, value_name = "RATE", value_parser = parse_copy_rate)]
    pub rate: Option<u64>,

    /// Transfers at once, 1 to 256 [default: as many as fill the path]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub jobs: Option<usize>,

    /// Do not wait until data is safe on disk before a file gets its name: faster to a local disk, but a crash of the
    /// destination's machine may leave files damaged, and interrupted files are not resumed
    #[arg(long)]
    pub no_sync: bool,

    /// Print a line for each file
    #[arg(short, long)]
    pub verbose: bool,

    /// Print only errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Show progress: on terminals only (auto), always (elsewhere one line per second), or never
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub progress: ShowProgress,

    /// Print the totals as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What --delete deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Deleted {
    /// What the source does not have, unless the source is empty
    Extra,
    /// The same, also if the source is empty
    All,
}

/// What can be left out of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kept {
    /// Permission bits
    Mode,
    /// Owner and group
    Ownership,
    /// Access and modification times
    Timestamps,
    /// Hard links
    Links,
    /// All of these
    All,
}

/// Which zeros become holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the flag's help says it")]
pub enum SparseWhen {
    Auto,
    Always,
    Never,
}

/// When progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the flag's help says it")]
pub enum ShowProgress {
    Auto,
    Always,
    Never,
}

const EXAMPLES: &str = "\
Examples:
  howdah cp disk.img nfs://server/backup/
      One file, in many parts at once. Started again after an interruption, it resumes.
  howdah cp -r nfs://server/data/project .
      A tree from a server, as ./project.
  howdah cp -r --verify --rate 50M photos nfs://server/archive
      At 50 MiB/s, every file read back and compared.
  howdah cp -rT --delete --dry-run --exclude '*.tmp' project nfs://server/data/project
      Show what a mirror without temporary files would change. Then repeat it without --dry-run.
  howdah cp -rT nfs://old/export/a nfs://new/export/b
      From server to server, to b itself, whether it exists or not.

Exit code: 0 everything is copied, 1 something is not (each is named), 2 wrong arguments.
";
