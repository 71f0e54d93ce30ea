//! What a person types: one file per subcommand. Meaning is given elsewhere, in [`crate::configuration`].

mod bench;
mod check;
mod command;
mod completions;
mod exports;
mod logs;
mod man;
mod nfsstat;
mod quantity;
mod serve;
mod stat;

pub use bench::{BenchArguments, ProgressWhen, WorkArguments};
#[cfg(test)]
pub use bench::{CommitName, ProfileName, WorkloadName};
pub use check::CheckArguments;
pub use command::{Command, Howdah};
pub use completions::CompletionsArguments;
pub use exports::ExportsArguments;
pub use logs::{LogArguments, LogFormat};
pub use man::ManArguments;
pub use nfsstat::NfsstatArguments;
pub use serve::{ExportArguments, ServeArguments, ServerArguments};
pub use stat::StatArguments;
