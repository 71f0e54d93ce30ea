//! MOUNT versions 1 and 3: from the path of an export to a handle, and the lists of what is exported and mounted.

mod dump;
mod export;
mod mnt;
mod mounts;
mod state;
mod telling;
mod umnt;

#[cfg(test)]
mod tests;

pub use state::MountProtocol;

use howdah_wire::mount::{DirectoryPath, PROGRAM as NUMBER, VERSION_1 as NUMBER_1, VERSION_3 as NUMBER_3};
use howdah_wire::xdr::{Decode, Decoder};

use crate::outline::{Outline, ReplyPace};
use crate::program::{Procedure, Row, Run, Tabled};

impl Tabled for MountProtocol {
    const NUMBER: u32 = NUMBER;
    const NAME: &'static str = "mountd";
    const VERSIONS: &'static [(u32, &'static [Row<Self>])] = &[(NUMBER_1, VERSION_1), (NUMBER_3, VERSION_3)];
}

const VERSION_1: &[Row<MountProtocol>] = &table(mnt(ReplyPace::Quick, mnt::run_version_1));
/// A path to mount may have hundreds of names, each of which is opened.
const VERSION_3: &[Row<MountProtocol>] = &table(mnt(ReplyPace::Dear, mnt::run));

/// The versions differ in MNT alone. No procedure needs its reply kept: each may run twice.
const fn table(mnt: Row<MountProtocol>) -> [Row<MountProtocol>; 6] {
    [
        row("NULL", |_, _, _| Ok(())),
        mnt,
        row("DUMP", dump::run),
        row("UMNT", umnt::run),
        row("UMNTALL", umnt::run_all),
        row("EXPORT", export::run),
    ]
}

const fn mnt(pace: ReplyPace, run: Run<MountProtocol>) -> Row<MountProtocol> {
    Row { procedure: Procedure { status: true, outline: first_path, ..Procedure::plain("MNT", pace) }, run }
}

fn first_path<'m>(outline: &mut Outline<'m>, mut arguments: Decoder<'m>) {
    outline.path = DirectoryPath::decode(&mut arguments).ok().map(|path| path.0);
}

const fn row(name: &'static str, run: Run<MountProtocol>) -> Row<MountProtocol> {
    Row { procedure: Procedure::plain(name, ReplyPace::Quick), run }
}
