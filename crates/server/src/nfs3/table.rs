//! Which procedure is which: the one place that knows all handlers.

use howdah_wire::nfs3::{PROGRAM as NUMBER, VERSION};

use super::*;
use crate::program::Repetition::{Once, OnceInDatagrams, Runs};
use crate::program::{Row, Tabled};
use crate::{Procedure, ReplyPace};

impl Tabled for Nfs3Program {
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
const PROCEDURES: &[Row<Nfs3Program>] = &[
    row!("NULL", null, ReplyPace::Quick, Runs, status: false, outline: |_, _| {}),
    row!("GETATTR", getattr, ReplyPace::Quick, Runs),
    row!("SETATTR", setattr, ReplyPace::Quick, Once, outline: outline::node),
    row!("LOOKUP", lookup, ReplyPace::Quick, Runs),
    row!("ACCESS", access, ReplyPace::Quick, Runs),
    row!("READLINK", readlink, ReplyPace::Quick, Runs),
    row!("READ", read, ReplyPace::Quick, Runs),
    row!("WRITE", write, ReplyPace::Quick, OnceInDatagrams, outline: outline::write),
    row!("CREATE", create, ReplyPace::Quick, Once, outline: outline::name, made: outline::made),
    row!("MKDIR", mkdir, ReplyPace::Quick, Once, outline: outline::name, made: outline::made),
    row!("SYMLINK", symlink, ReplyPace::Quick, Once, outline: outline::name, made: outline::made),
    row!("MKNOD", mknod, ReplyPace::Quick, Once, outline: outline::name, made: outline::made),
    row!("REMOVE", remove, ReplyPace::Quick, Once, outline: outline::name),
    row!("RMDIR", rmdir, ReplyPace::Quick, Once, outline: outline::name),
    row!("RENAME", rename, ReplyPace::Quick, Once, outline: outline::two_names),
    row!("LINK", link, ReplyPace::Quick, Once, outline: outline::node_and_name),
    row!("READDIR", readdir, ReplyPace::Dear, Runs),
    row!("READDIRPLUS", readdirplus, ReplyPace::Dear, Runs),
    row!("FSSTAT", fsstat, ReplyPace::Quick, Runs),
    row!("FSINFO", fsinfo, ReplyPace::Quick, Runs),
    row!("PATHCONF", pathconf, ReplyPace::Quick, Runs),
    row!("COMMIT", commit, ReplyPace::Slow, Runs),
];
