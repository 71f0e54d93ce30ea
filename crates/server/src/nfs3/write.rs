//! WRITE: data into a file. The data is borrowed from the call, or still waits in the socket.

use howdah_state::IoKind;
use howdah_vfs::{Change, Data, FileSystem, Stability, WriteFile, Written};
use howdah_wire::nfs3::write::{self, Head, Reply as Answer, Success};
use howdah_wire::nfs3::{Refused, Status};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, Object, nothing_known};
use super::convert;
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let head = Head::decode(&mut request.arguments)?;
    let data = match request.waiting.as_deref_mut() {
        Some(waiting) => Data::Waiting(waiting),
        None => Data::Bytes(request.arguments.bytes(head.length as usize, "data")?),
    };
    reply.write(&answer(&context, &head, data));
    Ok(())
}

fn answer(context: &Context<'_>, head: &Head<'_>, data: Data<'_>) -> Answer {
    let file = context.open(head.node).map_err(nothing_known)?;
    let mut change = Change::default();
    let permitted = context.permits(&file, IoKind::Write);
    let outcome = permitted.and_then(|()| put(&file, head, data, &mut change));
    let consistency = file.consistency(&change);
    match outcome {
        Ok(written) => Ok(Success {
            file: consistency,
            count: u32::try_from(written.count).expect("no more than was sent"),
            committed: committed(written.stability),
            verifier: written.verifier,
        }),
        Err(status) => Err(Refused { status, detail: consistency }),
    }
}

/// RFC 1813 3.3.7 does not say what holds if `count` and the length of the data differ. More data than `count` is
/// left alone, as `count` asks; less cannot be made up, so that is refused.
fn put(
    file: &Object<'_>,
    head: &Head<'_>,
    mut data: Data<'_>,
    change: &mut Change,
) -> Result<Written, Status> {
    let count = head.count as usize;
    if data.len() < count {
        return Err(Status::Invalid);
    }
    let data = match data {
        Data::Bytes(bytes) => Data::Bytes(&bytes[..count]),
        Data::Waiting(_) if data.len() > count => {
            Data::Bytes(&data.bytes().map_err(|_| Status::Io)?[..count])
        }
        Data::Shared(bytes) => Data::Shared(bytes.slice(..count)),
        Data::File(mut range) => Data::File(range.split_to(count)),
        Data::Waiting(waiting) => Data::Waiting(waiting),
    };
    let stability = asked(head.stability);
    file.file_system
        .write(&file.caller, WriteFile::new(&file.handle, head.offset, data, stability), change)
        .map_err(convert::status)
}

fn asked(stability: write::Stability) -> Stability {
    match stability {
        write::Stability::Unstable => Stability::Unstable,
        write::Stability::DataSync => Stability::DataSync,
        write::Stability::FileSync => Stability::FileSync,
    }
}

fn committed(stability: Stability) -> write::Stability {
    match stability {
        Stability::Unstable => write::Stability::Unstable,
        Stability::DataSync => write::Stability::DataSync,
        Stability::FileSync => write::Stability::FileSync,
    }
}
