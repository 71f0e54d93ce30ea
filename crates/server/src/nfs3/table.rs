//! Which procedure is which: the one place that knows all handlers.

use howdah_wire::nfs3::{PROGRAM as NUMBER, VERSION};

use super::*;
use crate::program::Repetition::{Once, OnceInDatagrams, Runs};
use crate::program::no_subjects;
use crate::{Pace, Procedure, Program};

/// The program.
pub const PROGRAM: Program = Program { number: NUMBER, name: "nfs", versions: &[(VERSION, PROCEDURES)] };

macro_rules! row {
    ($name:literal, $handler:ident, $pace:expr, $repetition:expr) => {
        Procedure {
            name: $name,
            pace: $pace,
            repetition: $repetition,
            subjects: no_subjects,
            names_node: true,
            status: true,
            bulk: None,
            run: $handler::run,
        }
    };
}

/// By number. What may not run twice is what would fail the second time, or undo what another call did meanwhile: a
/// WRITE that comes late, what was written or cut off since.
const PROCEDURES: &[Procedure] = &[
    Procedure { status: false, names_node: false, ..row!("NULL", null, Pace::Quick, Runs) },
    row!("GETATTR", getattr, Pace::Quick, Runs),
    Procedure { subjects: subjects::node, ..row!("SETATTR", setattr, Pace::Quick, Once) },
    row!("LOOKUP", lookup, Pace::Quick, Runs),
    row!("ACCESS", access, Pace::Quick, Runs),
    row!("READLINK", readlink, Pace::Quick, Runs),
    row!("READ", read, Pace::Quick, Runs),
    Procedure {
        bulk: Some(write::bulk),
        subjects: subjects::node,
        ..row!("WRITE", write, Pace::Quick, OnceInDatagrams)
    },
    Procedure { subjects: subjects::name, ..row!("CREATE", create, Pace::Quick, Once) },
    Procedure { subjects: subjects::name, ..row!("MKDIR", mkdir, Pace::Quick, Once) },
    Procedure { subjects: subjects::name, ..row!("SYMLINK", symlink, Pace::Quick, Once) },
    Procedure { subjects: subjects::name, ..row!("MKNOD", mknod, Pace::Quick, Once) },
    Procedure { subjects: subjects::name, ..row!("REMOVE", remove, Pace::Quick, Once) },
    Procedure { subjects: subjects::name, ..row!("RMDIR", rmdir, Pace::Quick, Once) },
    Procedure { subjects: subjects::two_names, ..row!("RENAME", rename, Pace::Quick, Once) },
    Procedure { subjects: subjects::node_and_name, ..row!("LINK", link, Pace::Quick, Once) },
    row!("READDIR", readdir, Pace::Dear, Runs),
    row!("READDIRPLUS", readdirplus, Pace::Dear, Runs),
    row!("FSSTAT", fsstat, Pace::Quick, Runs),
    row!("FSINFO", fsinfo, Pace::Quick, Runs),
    row!("PATHCONF", pathconf, Pace::Quick, Runs),
    row!("COMMIT", commit, Pace::Slow, Runs),
];
