//! What runs on any [`FileSystem`](howdah_vfs::FileSystem) and is measured: plans in, results out.
//!
//! A [`WorkloadPlan`] says exactly what is done. It is carried out on a [`Stage`], a fresh directory of its own in a
//! [`Place`], by a crew of threads; [`carry_out`] does the repetitions and makes the [`WorkloadResult`].
//!
//! [`content`] is the data it writes and knows again, [`measure`] the figures, [`counters`] the calls per procedure of this client and of
//! the kernel's. It knows no protocol: a [`Place`] is a file system, and who has counters of calls hands them in.

pub mod content;
pub mod counters;
pub mod measure;

mod beside;
mod call;
mod carry_out;
mod claims;
mod control;
mod crew;
mod file_set;
mod files;
mod gate;
mod laying_out;
mod ledger;
mod metadata;
mod names;
mod performance;
mod place;
mod plan;
mod profile;
mod progress;
mod random_access;
mod replay;
mod report;
mod result;
mod scale;
mod scene;
mod stage;
mod stream;
mod target_file;

pub use carry_out::{Schedule, carry_out};
pub use control::Interrupted;
pub use place::{Place, PlaceKind};
pub use plan::{Commit, FileSize, Workload, WorkloadPlan, WorkloadPlanError};
pub use profile::WorkloadProfile;
pub use progress::{Progress, ProgressNow, Unit};
pub use replay::{LaidOut, ProcedureReplayed, Recording, Replay, ReplayReport, Speed, replay};
pub use report::{BenchReport, PlaceReport};
pub use result::{PhaseResult, RunFigures, WorkloadResult};
pub use stage::Stage;
