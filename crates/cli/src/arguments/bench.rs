//! `howdah bench`: what was typed. Whatever was not typed stays empty, so that the profile or the default can speak.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use howdah_config::quantity::parse_time;
use howdah_tune::sizes::parse_size;
use howdah_workload::{Commit, FileSize, Speed, Workload, WorkloadProfile};

use super::quantity::{parse_factor, parse_file_size, parse_speed};

/// Measure reads, writes and metadata on a directory, a mount, an nfs:// URL, or memory
///
/// Works in a new directory, which is removed at the end and on Ctrl-C. Prints a table; with --json all measurements and the
/// parameters to repeat them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArguments {
    /// Where: a directory, a mount, nfs://HOST/EXPORT, or memory:
    #[arg(value_name = "PLACE")]
    pub place: String,

    /// What is done.
    #[command(flatten)]
    pub work: WorkArguments,

    /// Replay a record of howdah capture instead, on files of its own
    #[arg(long, value_name = "FILE", help_heading = "Replay",
          conflicts_with_all = ["workloads", "profile", "scale", "size", "files", "record", "transfer", "threads", "commit",
                                "operations", "reads", "time", "ramp", "think", "beside", "verify"])]
    pub replay: Option<PathBuf>,

    /// Replay speed: 2 is twice as fast as recorded, max as fast as possible [default: 1]
    #[arg(long, value_name = "SPEED", requires = "replay", value_parser = parse_speed, help_heading = "Replay")]
    pub speed: Option<Speed>,

    /// Number of measurements; the table shows median, min and max [default: 3, or 1 with --profile or --replay]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Runs")]
    pub runs: Option<u32>,

    /// Warm-up runs, which do not count [default: 1, or 0 with --profile or --replay]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000), help_heading = "Runs")]
    pub warm_up: Option<u32>,

    /// Run although the place is not empty. Existing files are never changed
    #[arg(long, help_heading = "Place")]
    pub non_empty: bool,

    /// Keep the files
    #[arg(long, help_heading = "Place")]
    pub keep: bool,

    /// Print JSON instead of the table; with FILE, write it to the file and print the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-", help_heading = "Output")]
    pub json: Option<String>,

    /// Print only errors, and the output of --json
    #[arg(short, long, help_heading = "Output", conflicts_with = "progress")]
    pub quiet: bool,

    /// Show progress: auto on a terminal only, always as lines
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub progress: ProgressWhen,
}

/// Flags about what is done.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Work")]
pub struct WorkArguments {
    /// Workloads, in this order, separated by commas [default: write,read]
    #[arg(short, long = "workload", value_name = "KIND", value_delimiter = ',', conflicts_with = "profile")]
    pub workloads: Vec<WorkloadName>,

    /// A classic benchmark with its exact parameters; other flags modify it, and the output says so
    #[arg(long, value_name = "NAME")]
    pub profile: Option<ProfileName>,

    /// Scale the amount of work (0.01 or 1%), for a small machine
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor)]
    pub scale: Option<f64>,

    /// Size of each file, or the smallest and the largest: 256M, 5M-50M. K, M, G are powers of 1024
    #[arg(long, value_name = "SIZE", value_parser = parse_file_size)]
    pub size: Option<FileSize>,

    /// Number of files
    #[arg(long, value_name = "N")]
    pub files: Option<u64>,

    /// Size of an application's read or write, which is timed; for random work the block [default: 1M, random 4K]
    #[arg(long, visible_alias = "block", value_name = "SIZE", value_parser = parse_size)]
    pub record: Option<u64>,

    /// Size of one call, which divides the record [default: the record]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub transfer: Option<u64>,

    /// Streams at the same time, each with its own files [default: 1]
    #[arg(long, value_name = "N")]
    pub threads: Option<u64>,

    /// Calls in flight per stream, or auto: as many as the path needs [default: auto over NFS, else 1]; with --replay of all streams
    /// [default: 64, with --speed max as many as the server had]
    #[arg(long, value_name = "N", value_parser = parse_in_flight)]
    pub in_flight: Option<InFlight>,

    /// When to make data durable (COMMIT, fsync): at the end of each file inside or outside the measured time, with each write,
    /// or never [default: inside]
    #[arg(long, value_name = "WHEN")]
    pub commit: Option<CommitName>,

    /// Number of random accesses [default: 10000]
    #[arg(long, value_name = "N")]
    pub operations: Option<u64>,

    /// Percentage of reads among mixed accesses [default: 70]
    #[arg(long, value_name = "PERCENT")]
    pub reads: Option<u64>,

    /// Stop after this time (30s, 5m); sequential work starts over until then
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time: Option<Duration>,

    /// Exclude this much time at the start, to measure the steady rate of a connection. Sequential work only
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub ramp: Option<Duration>,

    /// Pause for this long after each call, like an application that computes. Sequential work only
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub think: Option<Duration>,

    /// Meanwhile get the attributes of a file at this interval, on the same mount, and measure the latency. Sequential work
    /// with --time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub beside: Option<Duration>,

    /// Compare all data with what was written, within the measured time of reads
    #[arg(long)]
    pub verify: bool,

    /// Seed of data, sizes and order [default: a new one each time, which is printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// When to show progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressWhen {
    /// On a terminal
    Auto,
    /// As lines, also without a terminal
    Always,
    /// Not at all
    Never,
}

/// Makes a type of the laboratory's a value of the command line, under the names it has there.
macro_rules! named {
    ($(#[doc = $doc:literal])* $name:ident of $inner:ident: $($variant:ident, $help:literal;)*) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub $inner);

        impl ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                &[$(Self($inner::$variant)),*]
            }

            fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
                let help = match self.0 { $($inner::$variant => $help,)* };
                Some(clap::builder::PossibleValue::new(self.0.name()).help(help))
            }
        }
    };
}

named! {
    /// A kind of work.
    WorkloadName of Workload:
    Write, "Write files from start to end";
    Read, "Read files from start to end";
    Files, "Write, then read, many mid-sized files: 100 of 5 to 50 MiB";
    Small, "The same with 1000 files of 1 to 64 KiB, each timed as a whole";
    RandomRead, "Read blocks at random";
    RandomWrite, "Write blocks at random";
    Mixed, "Read and write blocks at random";
    Metadata, "Create, stat, list, rename and remove 1000 empty files";
}

named! {
    /// A classic measurement.
    ProfileName of WorkloadProfile:
    Iozone2008, "500 MiB written in records of 1 MiB, close and flush included";
    Workq2003, "50 MiB read by 256 KiB, transfers of 8 KiB, over UDP";
    Dd2010, "80 GiB written and read in blocks of 2 MiB by one stream";
    Files2010, "1000 files of 5 to 50 MiB written and read";
}

named! {
    /// When data is made durable.
    CommitName of Commit:
    Inside, "At the end of each file, within the measured time";
    Outside, "At the end of each file, after the measured time";
    Each, "With each write";
    Never, "Not at all";
}

/// How many calls are to be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFlight {
    /// As many as the path wants.
    Auto,
    /// So many.
    Fixed(u64),
}

impl InFlight {
    /// The number, if there is one.
    pub fn fixed(self) -> Option<u64> {
        match self {
            Self::Auto => None,
            Self::Fixed(count) => Some(count),
        }
    }
}

fn parse_in_flight(text: &str) -> Result<InFlight, String> {
    match text {
        "auto" => Ok(InFlight::Auto),
        _ => text.parse().map(InFlight::Fixed).map_err(|_| "a number of calls, or auto".to_owned()),
    }
}

const EXAMPLES: &str = "\
Examples:
  howdah bench nfs://server/export/empty                        Sequential writing and reading
  howdah bench /mnt/nfs/empty -w small,metadata --threads 4     Small files and names, on a mount
  howdah bench nfs://server/x --profile dd-2010 --size 1G       A classic, smaller
  howdah bench memory: -w mixed --verify --json                 Everything as JSON
  howdah bench nfs://server/x --replay busy.jsonl               What howdah capture recorded
";
