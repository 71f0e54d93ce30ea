//! The procedures of the program: NULL and COMPOUND.

use howdah_wire::nfs4::{PROGRAM as NUMBER, VERSION};

use super::{Nfs4, interpreter, peek};
use crate::program::{Pace, Procedure, Repetition, Row, Tabled};

impl Tabled for Nfs4 {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "nfs";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(VERSION, PROCEDURES)];
    // RFC 8881 2.9.1: a transport must bring everything, and say so when it cannot.
    const TAKES_DATAGRAMS: bool = false;
}

const PROCEDURES: &[Row<Nfs4>] = &[
    Row { procedure: Procedure::plain("NULL", Pace::Quick), run: |_, _, _| Ok(()) },
    Row {
        procedure: Procedure {
            status: true,
            node: peek::node,
            pace_by_arguments: Some(peek::pace),
            bulk: Some(peek::bulk),
            repetition: Repetition::Runs,
            ..Procedure::plain("COMPOUND", Pace::Quick)
        },
        run: interpreter::run,
    },
];
