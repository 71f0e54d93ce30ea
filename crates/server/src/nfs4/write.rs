//! WRITE: data into the current file. The data is borrowed from the call, or still waits in the socket.

use howdah_state::IoKind;
use howdah_vfs::{Change, Data, FileSystem, Stability, WriteFile};
use howdah_wire::nfs4::write::{Head, Success};
use howdah_wire::nfs4::{Stability as Told, Status, Verifier};
use howdah_wire::xdr::{Decode, Decoder, padding};

use super::compound::{Compound, Outcome};
use super::convert;
use super::read::{of_kind, refusal};
use crate::Reply;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let head = match compound.opening.write.take() {
        Some(head) => arguments.bytes(Head::SIZE, "head").map(|_| head)?,
        None => Head::decode(arguments)?,
    };
    let success = match compound.waiting.take() {
        Some(waiting) => {
            let success = put(compound, &head, Data::Waiting(waiting))?;
            compound.behind = Some(waiting.behind().map_err(|_| Status::IO)?.to_vec());
            success
        }
        None => {
            let data = arguments.bytes(head.length as usize, "data")?;
            arguments.bytes(padding(data.len()), "padding")?;
            put(compound, &head, Data::Bytes(data))?
        }
    };
    reply.write(&success);
    Ok(())
}

fn put(compound: &Compound<'_>, head: &Head, data: Data<'_>) -> Result<Success, Status> {
    let file = compound.object(Status::ISDIR)?;
    compound.check_io(file, head.state, IoKind::Write).map_err(|status| of_kind(file, status))?;
    let stability = match head.stability {
        Told::Unstable => Stability::Unstable,
        Told::DataSync => Stability::DataSync,
        Told::FileSync => Stability::FileSync,
    };
    let (caller, node) = (&file.caller, &file.handle);
    let written = file.file_system.write(
        caller,
        WriteFile::new(node, head.offset, data, stability),
        &mut Change::default(),
    );
    let written = written.map_err(|error| refusal(file, error))?;
    Ok(Success {
        count: u32::try_from(written.count).expect("no more than was sent"),
        committed: convert::told_stability(written.stability),
        verifier: Verifier(written.verifier),
    })
}
