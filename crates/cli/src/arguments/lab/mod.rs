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
pub use run::LabRunArguments;
pub use shell::ShellArguments;

/// Emulate any network path on this machine: try programs on it, and run experiments
///
/// Hosts and the link between them exist only inside this command: it changes nothing on this machine and leaves nothing
/// behind. Works as root, and for other users if the system allows them to create namespaces.
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
    Run(LabRunArguments),
    List(ListArguments),
    Report(ReportArguments),
    Shell(ShellArguments),
    Paths(PathsArguments),
}

const EXAMPLES: &str = "\
Examples:
  howdah lab list                                    List the built-in experiments
  howdah lab run buffers-2008 --quick                Run one in its short form; ends with a report
  howdah lab paths                                   List the built-in paths
  howdah lab shell --path wan-30ms                   A shell on a host that is 30 ms from another one
  howdah lab shell --rtt 80ms --loss 0.1% -- ping -c 3 server
";
