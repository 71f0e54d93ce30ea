//! READ: data of the current file. It is never copied here: the file system appends a little to the reply's buffer, or gives
//! content that the transport sends after it.

use howdah_state::IoKind;
use howdah_vfs::{FileKind, FileSystem, FsError, ReadFile};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::read::{Arguments, Head};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::lookup;
use super::node::ExportedNode;
use crate::Reply;
use crate::limits::TRANSFER_MAX;

/// Bytes of a reply behind the data of a READ that is not the last operation, at most.
const BEHIND: usize = 1 << 10;

/// Data takes a multiple of so many bytes.
const UNIT: usize = 4;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { state, offset, count } = Arguments::decode(arguments)?;
    let file = compound.object(Status::ISDIR)?;
    compound.check_io(file, state, IoKind::Read).map_err(|status| of_kind(file, status))?;
    // Linux asks for sessions whose replies have just room for the largest READ: what is kept free in vain splits each of them in two.
    let behind = if arguments.rest().is_empty() { 0 } else { BEHIND };
    let left = compound.most_reply().saturating_sub(reply.message_length() + Head::SIZE + behind);
    let count = (count as usize).min(TRANSFER_MAX).min(left - left % UNIT);
    let is_copied = compound.is_protected || compound.nfs4.ranges.are_doubted();
    let buffer = reply.bytes_mut();
    let start = buffer.len();
    // The head has one length whatever is in it: its place is kept, and filled in when the data is there.
    buffer.resize(start + Head::SIZE, 0);
    let outcome = file.file_system.read(&file.caller, ReadFile::new(&file.handle, offset, count), buffer);
    let outcome = match outcome {
        Ok(outcome) if is_copied => reply.copied(outcome),
        outcome => outcome,
    };
    let outcome = outcome.map_err(|error| refusal(file, error))?;
    let length = u32::try_from(outcome.content.len()).expect("no more than was asked for");
    let head = Head { end: outcome.end, length };
    reply.bytes_mut()[start..start + Head::SIZE].copy_from_slice(&head.to_bytes());
    reply.insert(outcome.content);
    Ok(())
}

/// The status of a refusal of I/O.
pub fn refusal(object: &ExportedNode<'_>, error: FsError) -> Status {
    match error {
        FsError::Invalid => of_kind(object, Status::INVAL),
        error => super::convert::status(error),
    }
}

/// The status of I/O on a node that may be no regular file: then its kind is what is wrong.
pub fn of_kind(object: &ExportedNode<'_>, status: Status) -> Status {
    match lookup::kind(object) {
        Ok(FileKind::Regular) | Err(_) => status,
        Ok(FileKind::Directory) => Status::ISDIR,
        Ok(FileKind::SymbolicLink) => Status::SYMLINK,
        Ok(_) => Status::WRONG_TYPE,
    }
}
