//! REMOVE: removes a name from the current directory, of whatever kind its node is.

use howdah_vfs::{Change, FileSystem, FsError};
use howdah_wire::nfs4::remove::{Arguments, Success};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::{convert, create, names};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { name } = Arguments::decode(arguments)?;
    let directory = compound.changed()?;
    let name = names::of(name.0)?;
    compound.refuse_in_grace()?;
    let mut change = Change::default();
    let (file_system, caller, handle) = (&directory.file_system, &directory.caller, &directory.handle);
    match file_system.remove(caller, handle, name, &mut change) {
        Err(FsError::IsDirectory) => file_system.remove_directory(caller, handle, name, &mut change),
        outcome => outcome,
    }
    .map_err(|error| create::in_directory(directory, error))?;
    reply.write(&Success { directory: convert::change_info(&change, || directory.attributes().ok()) });
    Ok(())
}
