//! rquota versions 1 and 2: what users and groups have used of the file system below a path that clients mounted, and may use at most.
//! Nothing is changed: SETQUOTA is not served.

mod getquota;
mod scale;
mod state;

#[cfg(test)]
mod tests;

pub use state::RemoteQuotas;

use howdah_wire::rquota::{PROGRAM as NUMBER, QuotaPath, VERSION_1 as NUMBER_1, VERSION_2 as NUMBER_2};
use howdah_wire::xdr::{Decode, Decoder};

use crate::outline::{Outline, ReplyPace};
use crate::program::{Procedure, Row, Run, Tabled};

impl Tabled for RemoteQuotas {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "rquotad";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(NUMBER_1, VERSION_1), (NUMBER_2, VERSION_2)];
}

const VERSION_1: &[Row<RemoteQuotas>] = &table(getquota::run_version_1);
const VERSION_2: &[Row<RemoteQuotas>] = &table(getquota::run_version_2);

/// The versions differ in their arguments alone. The kernel shows only quotas that it enforces, so both questions have one answer.
const fn table(run: Run<RemoteQuotas>) -> [Row<RemoteQuotas>; 3] {
    [
        Row { procedure: Procedure::plain("NULL", ReplyPace::Quick), run: |_, _, _| Ok(()) },
        row("GETQUOTA", run),
        row("GETACTIVEQUOTA", run),
    ]
}

/// Dear: a path may have hundreds of names, and the server opens each of them.
const fn row(name: &'static str, run: Run<RemoteQuotas>) -> Row<RemoteQuotas> {
    Row { procedure: Procedure { outline: first_path, ..Procedure::plain(name, ReplyPace::Dear) }, run }
}

fn first_path<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    outline.path = QuotaPath::decode(&mut arguments).ok().map(|path| path.0);
}
