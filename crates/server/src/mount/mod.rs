//! MOUNT versions 1 and 3: from the path of an export to a handle, and the lists of what is exported and mounted.

mod dump;
mod export;
mod mnt;
mod mounts;
mod telling;
mod umnt;

#[cfg(test)]
mod tests;

pub use mounts::Mounts;

use howdah_wire::mount::{PROGRAM as NUMBER, VERSION_1 as NUMBER_1, VERSION_3 as NUMBER_3};

use crate::program::{Pace, Procedure, Program, Refusal, Repetition, no_subjects};
use crate::service::Service;
use crate::{Reply, Request};

/// The program.
pub const PROGRAM: Program =
    Program { number: NUMBER, name: "mountd", versions: &[(NUMBER_1, VERSION_1), (NUMBER_3, VERSION_3)] };

const VERSION_1: &[Procedure] = &table(mnt(Pace::Quick, mnt::run_version_1));
/// A path to mount may have hundreds of names, each of which is opened.
const VERSION_3: &[Procedure] = &table(mnt(Pace::Dear, mnt::run));

/// The versions differ in MNT alone. No procedure needs its reply kept: each may run twice.
const fn table(mnt: Procedure) -> [Procedure; 6] {
    [
        row("NULL", Pace::Quick, |_, _, _| Ok(())),
        mnt,
        row("DUMP", Pace::Quick, dump::run),
        row("UMNT", Pace::Quick, umnt::run),
        row("UMNTALL", Pace::Quick, umnt::run_all),
        row("EXPORT", Pace::Quick, export::run),
    ]
}

const fn mnt(pace: Pace, run: Run) -> Procedure {
    Procedure { status: true, ..row("MNT", pace, run) }
}

type Run = fn(&Service, &mut Request<'_, '_>, &mut Reply) -> Result<(), Refusal>;

const fn row(name: &'static str, pace: Pace, run: Run) -> Procedure {
    Procedure {
        name,
        pace,
        repetition: Repetition::Runs,
        subjects: no_subjects,
        names_node: false,
        status: false,
        bulk: None,
        run,
    }
}
