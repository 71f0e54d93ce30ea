//! NFSACL: the program beside NFSv3 that reads and sets POSIX ACLs, on the same sockets and under the same rules.

use howdah_wire::nfsacl::{PROGRAM as NUMBER, VERSION};

use super::{NfsAcl, getacl, outline, setacl};
use crate::program::Repetition::{Once, Runs};
use crate::program::{Row, Tabled};
use crate::{Procedure, ReplyPace};

impl Tabled for NfsAcl {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "nfsacl";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(VERSION, PROCEDURES)];
}

/// By number. A SETACL that comes late would undo what another one set meanwhile.
const PROCEDURES: &[Row<NfsAcl>] = &[
    Row { procedure: Procedure::plain("NULL", ReplyPace::Quick), run: |_, _, _| Ok(()) },
    Row { procedure: Procedure::of_nodes("GETACL", ReplyPace::Quick, Runs), run: getacl::run },
    Row {
        procedure: Procedure {
            outline: outline::node,
            ..Procedure::of_nodes("SETACL", ReplyPace::Quick, Once)
        },
        run: setacl::run,
    },
];
