//! Which procedure is which: the one place that knows all handlers.

use howdah_wire::nfs3::{PROGRAM as NUMBER, VERSION};

use super::*;
use crate::{Pace, Procedure, Program};

/// The program.
pub const PROGRAM: Program = Program { number: NUMBER, name: "nfs", versions: &[(VERSION, PROCEDURES)] };

macro_rules! row {
    ($name:literal, $handler:ident, $pace:expr, once: $once:literal) => {
        Procedure { name: $name, pace: $pace, once: $once, status: true, bulk: None, run: $handler::run }
    };
}

/// By number. What may not run twice is what would fail the second time, or undo what another call did meanwhile.
const PROCEDURES: &[Procedure] = &[
    Procedure { status: false, ..row!("NULL", null, Pace::Quick, once: false) },
    row!("GETATTR", getattr, Pace::Quick, once: false),
    row!("SETATTR", setattr, Pace::Quick, once: true),
    row!("LOOKUP", lookup, Pace::Quick, once: false),
    row!("ACCESS", access, Pace::Quick, once: false),
    row!("READLINK", readlink, Pace::Quick, once: false),
    row!("READ", read, Pace::Quick, once: false),
    Procedure { bulk: Some(write::bulk), ..row!("WRITE", write, Pace::Quick, once: false) },
    row!("CREATE", create, Pace::Quick, once: true),
    row!("MKDIR", mkdir, Pace::Quick, once: true),
    row!("SYMLINK", symlink, Pace::Quick, once: true),
    row!("MKNOD", mknod, Pace::Quick, once: true),
    row!("REMOVE", remove, Pace::Quick, once: true),
    row!("RMDIR", rmdir, Pace::Quick, once: true),
    row!("RENAME", rename, Pace::Quick, once: true),
    row!("LINK", link, Pace::Quick, once: true),
    row!("READDIR", readdir, Pace::Dear, once: false),
    row!("READDIRPLUS", readdirplus, Pace::Dear, once: false),
    row!("FSSTAT", fsstat, Pace::Quick, once: false),
    row!("FSINFO", fsinfo, Pace::Quick, once: false),
    row!("PATHCONF", pathconf, Pace::Quick, once: false),
    row!("COMMIT", commit, Pace::Slow, once: false),
];
