//! The procedures of the program: NULL and COMPOUND.

use howdah_wire::nfs4::{PROGRAM as NUMBER, VERSION, operation};

use super::{Nfs4, interpreter, opening};
use crate::outline::ReplyPace;
use crate::program::{Procedure, Row, Tabled};

impl Tabled for Nfs4 {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "nfs";
    const OPERATIONS: &'static [Procedure] = &OPERATIONS;
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(VERSION, PROCEDURES)];
    // RFC 8881 2.9.1: a transport must bring everything, and say so when it cannot.
    const TAKES_DATAGRAMS: bool = false;
}

/// How many numbers operations have.
const NUMBERS: usize = 76;

/// By number: a compound is counted as the operation that it is made for.
static OPERATIONS: [Procedure; NUMBERS] = {
    let mut table = [Procedure::plain("", ReplyPace::Quick); NUMBERS];
    let mut number = 0;
    while number < NUMBERS {
        if let Some(name) = operation::name(number as u32) {
            table[number].name = name;
        }
        number += 1;
    }
    table
};

const PROCEDURES: &[Row<Nfs4>] = &[
    Row { procedure: Procedure::plain("NULL", ReplyPace::Quick), run: |_, _, _| Ok(()) },
    Row {
        procedure: Procedure {
            status: true,
            outline: opening::read,
            ..Procedure::plain("COMPOUND", ReplyPace::Quick)
        },
        run: interpreter::run,
    },
];
