//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// howdah against clients that nobody here wrote
///
/// Runs every scenario, or those named: a Linux kernel's NFS client in User Mode Linux, libnfs,
/// rpcinfo, showmount. Each runs in namespaces of its own and can write nowhere but in its own directory.
#[derive(Debug, Parser)]
#[command(name = "howdah-interop", args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// Something else than running scenarios.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// How scenarios run.
    #[command(flatten)]
    pub run: RunArguments,
}

/// How scenarios run.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Scenarios to run [default: all]
    #[arg(value_name = "SCENARIO")]
    pub scenarios: Vec<String>,

    /// Shorter files, fewer entries, less time each
    #[arg(long)]
    pub quick: bool,

    /// Name the scenarios and what each proves, run none
    #[arg(long)]
    pub list: bool,

    /// The howdah under test
    #[arg(long, value_name = "FILE", default_value = "target/release/howdah")]
    pub binary: PathBuf,

    /// Where each scenario makes its directory [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,

    /// Of every random choice [default: another one each time; printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Another size than the scenario's own, as in SIZE=1073741824; the table of scenarios names them
    #[arg(long, value_name = "NAME=NUMBER", value_parser = parse_size)]
    pub set: Vec<(String, u64)>,

    /// Where test suites of other people were built, for the scenarios that run them; README.md says how
    #[arg(long, value_name = "DIR")]
    pub suites: Option<PathBuf>,

    /// The container image under test, as `cargo xtask release --image` makes it
    #[arg(long, value_name = "FILE")]
    pub image: Option<PathBuf>,

    /// A guest kernel whose client speaks TLS, as `cargo xtask test` unpacks it [default: the system's, if it is new enough]
    #[arg(long, value_name = "DIR")]
    pub newer_guest: Option<PathBuf>,

    /// Keep the directories of passed scenarios too
    #[arg(long)]
    pub keep: bool,

    /// Scenarios at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,
}

/// What the scenarios' own scripts and processes call.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// One scenario, already inside its namespaces
    #[command(hide = true)]
    Inside {
        /// Its name.
        scenario: String,
        /// Its directory.
        #[arg(long)]
        work: PathBuf,
        /// The howdah under test.
        #[arg(long)]
        binary: PathBuf,
        /// Of every random choice.
        #[arg(long)]
        seed: u64,
        /// Short sizes.
        #[arg(long)]
        quick: bool,
        /// Other sizes.
        #[arg(long, value_parser = parse_size)]
        set: Vec<(String, u64)>,
        /// Test suites of other people.
        #[arg(long)]
        suites: Option<PathBuf>,
        /// The container image under test.
        #[arg(long)]
        image: Option<PathBuf>,
        /// A newer guest kernel.
        #[arg(long)]
        newer_guest: Option<PathBuf>,
    },
    /// The server of a container image, started as container engines do
    #[command(hide = true)]
    Contain(Contain),
    /// Write bytes that look random and follow from a seed to standard output
    Pattern {
        /// Which bytes.
        #[arg(long)]
        seed: u64,
        /// How many.
        #[arg(long)]
        bytes: u64,
    },
    /// Run the conformance suite on a directory, served as howdah serves it, or on a server, through howdah's client
    Conform {
        /// The directory, which is made if it is not there, or the URL of an export.
        place: PathBuf,
    },
    /// Print the kernel's handle of each file (name_to_handle_at), to compare mounts on several hosts
    Handles {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Change one file at random, comparing every read with a copy in memory
    ExerciseFile(ExerciseArguments),
    /// Change a directory's names at random, comparing every answer with a model in memory
    ExerciseNames(ExerciseArguments),
}

/// A container.
#[derive(Debug, Args)]
pub struct Contain {
    /// Whether this is its first process.
    #[arg(long)]
    pub first: bool,
    /// The job's directory, with the image and its root.
    #[arg(long)]
    pub work: PathBuf,
    /// What is mounted as /data.
    #[arg(long)]
    pub export: PathBuf,
    /// What is mounted as /state.
    #[arg(long)]
    pub state: PathBuf,
}

/// How the exerciser runs.
#[derive(Debug, Args)]
pub struct ExerciseArguments {
    /// Of every random choice.
    #[arg(long)]
    pub seed: u64,
    /// How long.
    #[arg(long)]
    pub seconds: u64,
    /// Empty the kernel's caches now and then (root only; in a guest).
    #[arg(long)]
    pub drop_caches: bool,
    /// The file or the directory.
    pub path: PathBuf,
}

fn parse_size(text: &str) -> Result<(String, u64), String> {
    let (name, number) = text.split_once('=').ok_or("not NAME=NUMBER")?;
    let number = number.parse().map_err(|error| format!("{number}: {error}"))?;
    Ok((name.to_owned(), number))
}
