//! LINK: gives the saved node one more name, in the current directory.

use howdah_vfs::{AddLink, Change, FileKind, FileSystem};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::link::{Arguments, Success};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::{convert, create, lookup, names};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { name } = Arguments::decode(arguments)?;
    let (node, directory) = (compound.saved_object(Status::ISDIR)?, compound.changed()?);
    let name = names::of(name.0)?;
    if !node.is_beside(directory) {
        return Err(Status::XDEV.into());
    }
    if lookup::kind(node)? == FileKind::Directory {
        return Err(Status::ISDIR.into());
    }
    compound.refuse_in_grace()?;
    let mut change = Change::default();
    node.file_system
        .link(&node.caller, AddLink::new(&node.handle, &directory.handle, name), &mut change)
        .map_err(|error| create::in_directory(directory, error))?;
    reply.write(&Success { directory: convert::change_info(&change, || directory.attributes().ok()) });
    Ok(())
}
