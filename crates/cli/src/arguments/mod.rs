//! What a person types: one file per subcommand. What it means to a server is in `howdah-config`.

mod asked;
mod behind;
mod bench;
mod caching;
mod capture;
mod cat;
mod certificate;
mod check;
mod clients;
mod cluster_key;
mod command;
mod completions;
mod cp;
mod doctor;
#[cfg(test)]
mod documented;
mod exports;
mod heads;
mod hints;
mod knobs;
mod lab;
mod limit;
mod logs;
mod ls;
mod man;
#[cfg(test)]
mod manual;
mod meaning;
mod mount;
mod nfsstat;
mod nics;
mod patterns;
pub mod quantity;
mod relay;
mod serve;
mod stat;
mod top;
mod typed;
mod why;
mod wrong;

pub use asked::AskedArguments;
pub use behind::{RefusedArguments, RefusedCommand, SyncArguments};
pub use bench::{BenchArguments, InFlight, ProgressWhen, WorkArguments};
#[cfg(test)]
pub use bench::{CommitName, ProfileName, WorkloadName};
pub use caching::CachingArguments;
pub use capture::CaptureArguments;
pub use cat::CatArguments;
pub use certificate::CertificateArguments;
pub use check::CheckArguments;
pub use clients::{ClientsArguments, ReleaseArguments};
pub use cluster_key::ClusterKeyArguments;
pub use command::{Command, Howdah};
pub use completions::CompletionsArguments;
pub use cp::{CpArguments, Deleted, Kept, ShowProgress, SparseWhen};
pub use doctor::DoctorArguments;
pub use exports::ExportsArguments;
pub use heads::HeadsArguments;
pub use knobs::{GetArguments, SetArguments};
pub use lab::{
    LabArguments, LabCommand, LabRunArguments, ListArguments, PathArguments, PathsArguments, ReportArguments,
    ShellArguments,
};
pub use logs::LogArguments;
pub use ls::LsArguments;
pub use man::ManArguments;
pub use meaning::load_arguments;
pub use mount::{MountArguments, MountsArguments, UmountArguments};
pub use nfsstat::NfsstatArguments;
pub use nics::NicsArguments;
pub use relay::RelayArguments;
pub use serve::{ExportArguments, ServeArguments, ServerArguments};
pub use stat::{CountedArguments, StatArguments};
pub use top::TopArguments;
pub use typed::typed;
pub use why::WhyArguments;
pub use wrong::{Wrong, argument, sentence, wrong};
