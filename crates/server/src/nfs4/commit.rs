//! COMMIT: makes what was written unstably to the current file durable.

use howdah_vfs::{Change, CommitFile, FileSystem};
use howdah_wire::nfs4::commit::{Arguments, Success};
use howdah_wire::nfs4::{Status, Verifier};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::read::refusal;
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { offset, count } = Arguments::decode(arguments)?;
    let file = compound.object(Status::ISDIR)?;
    let committed = file.file_system.commit(
        &file.caller,
        CommitFile::new(&file.handle, offset, u64::from(count)),
        &mut Change::default(),
    );
    let committed = committed.map_err(|error| refusal(file, error))?;
    reply.write(&Success { verifier: Verifier(committed.verifier) });
    Ok(())
}
