//! Which procedure is which: the one place that knows all handlers.

use howdah_wire::nfs3::{PROGRAM as NUMBER, VERSION};

use super::*;
use crate::program::Repetition::{Once, OnceInDatagrams, Runs};
use crate::program::{Row, Tabled};
use crate::{Pace, Procedure};

impl Tabled for Nfs3 {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "nfs";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(VERSION, PROCEDURES)];
}

/// A row with these exceptions to what most of its kind have.
macro_rules! row {
    ($name:literal, $handler:ident, $pace:expr, $repetition:expr $(, $field:ident: $value:expr)*) => {
        Row {
            procedure: Procedure {
                $($field: $value,)*
                ..Procedure::of_nodes($name, $pace, $repetition)
            },
            run: $handler::run,
        }
    };
}

/// By number. What may not run twice is what would fail the second time, or undo what another call did meanwhile: a
/// WRITE that comes late, what was written or cut off since.
const PROCEDURES: &[Row<Nfs3>] = &[
    row!("NULL", null, Pace::Quick, Runs, status: false, outline: |_, _| {}),
    row!("GETATTR", getattr, Pace::Quick, Runs),
    row!("SETATTR", setattr, Pace::Quick, Once, outline: outline::node),
    row!("LOOKUP", lookup, Pace::Quick, Runs),
    row!("ACCESS", access, Pace::Quick, Runs),
    row!("READLINK", readlink, Pace::Quick, Runs),
    row!("READ", read, Pace::Quick, Runs),
    row!("WRITE", write, Pace::Quick, OnceInDatagrams, outline: outline::write),
    row!("CREATE", create, Pace::Quick, Once, outline: outline::name, made: outline::made),
    row!("MKDIR", mkdir, Pace::Quick, Once, outline: outline::name, made: outline::made),
    row!("SYMLINK", symlink, Pace::Quick, Once, outline: outline::name, made: outline::made),
    row!("MKNOD", mknod, Pace::Quick, Once, outline: outline::name, made: outline::made),
    row!("REMOVE", remove, Pace::Quick, Once, outline: outline::name),
    row!("RMDIR", rmdir, Pace::Quick, Once, outline: outline::name),
    row!("RENAME", rename, Pace::Quick, Once, outline: outline::two_names),
    row!("LINK", link, Pace::Quick, Once, outline: outline::node_and_name),
    row!("READDIR", readdir, Pace::Dear, Runs),
    row!("READDIRPLUS", readdirplus, Pace::Dear, Runs),
    row!("FSSTAT", fsstat, Pace::Quick, Runs),
    row!("FSINFO", fsinfo, Pace::Quick, Runs),
    row!("PATHCONF", pathconf, Pace::Quick, Runs),
    row!("COMMIT", commit, Pace::Slow, Runs),
];
