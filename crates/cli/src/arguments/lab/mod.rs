//! `howdah lab`: what was typed, one file per subcommand.

mod list;
mod path;
mod paths;
mod report;
mod run;
mod shell;

use clap::{Args, Subcommand};

pub use list::ListArguments;
pub use path::PathArguments;
pub use paths::PathsArguments;
pub use report::ReportArguments;
pub use run::RunArguments;
pub use shell::ShellArguments;

/// Any network path on this machine: try programs on it, and run experiments
///
/// Hosts and the wire between them exist inside this command only: nothing of this machine changes, and nothing is left,
/// however it ends. Works as root, and as an ordinary user where the system lets users make namespaces.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LabArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: LabCommand,
}

/// What the laboratory does.
#[derive(Debug, Subcommand)]
// Each subcommand's help is the documentation of its arguments: a line here would hide it.
#[allow(missing_docs)]
#[allow(clippy::large_enum_variant, reason = "there is one in a process")]
pub enum LabCommand {
    Run(RunArguments),
    List(ListArguments),
    Report(ReportArguments),
    Shell(ShellArguments),
    Paths(PathsArguments),
}

const EXAMPLES: &str = "\
Examples:
  howdah lab list                                    The experiments that are built in
  howdah lab run buffers-2008 --quick                One of them, short; it ends with a report
  howdah lab paths                                   The paths that have names
  howdah lab shell --path wan-30ms                   A shell on a host that is 30 ms from another one
  howdah lab shell --rtt 80ms --loss 0.1% -- ping -c 3 server
";
