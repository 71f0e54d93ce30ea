//! WRITE: data into the current file.

use howdah_state::IoKind;
use howdah_vfs::{Change, Data, FileSystem, FsError, Stability};
use howdah_wire::nfs4::write::{Arguments, Success};
use howdah_wire::nfs4::{Stability as Told, Status, Verifier};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::read::of_kind;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { state, offset, stability, data } = Arguments::decode(arguments)?;
    let file = compound.object(Status::ISDIR)?;
    compound.check_io(file, state, IoKind::Write).map_err(|status| of_kind(file, status))?;
    let stability = match stability {
        Told::Unstable => Stability::Unstable,
        Told::DataSync => Stability::DataSync,
        Told::FileSync => Stability::FileSync,
    };
    let (caller, node) = (&file.caller, &file.handle);
    let written = file
        .file_system
        .write(caller, node, offset, Data::Bytes(data), stability, &mut Change::default())
        .map_err(|error| match error {
            FsError::Invalid => of_kind(file, Status::INVAL),
            error => super::convert::status(error),
        })?;
    reply.write(&Success {
        count: u32::try_from(written.count).expect("no more than was sent"),
        committed: match written.stability {
            Stability::Unstable => Told::Unstable,
            Stability::DataSync => Told::DataSync,
            Stability::FileSync => Told::FileSync,
        },
        verifier: Verifier(written.verifier),
    });
    Ok(())
}
