//! COMMIT: makes what was written unstably durable.

use howdah_vfs::{Change, CommitFile, FileSystem};
use howdah_wire::nfs3::Refused;
use howdah_wire::nfs3::commit::{Arguments, Reply as Answer, Success};
use howdah_wire::xdr::Decode;

use super::Nfs3Program;
use super::context::{Context, nothing_known};
use super::convert;
use crate::{Refusal, Reply, Request};

/// Answers a call.
pub fn run(nfs3: &Nfs3Program, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs3.exports();
    let context = Context::new(nfs3, &exports, request)?;
    let arguments = Arguments::decode(&mut request.arguments)?;
    reply.write(&answer(&context, &arguments));
    Ok(())
}

fn answer(context: &Context<'_>, arguments: &Arguments<'_>) -> Answer {
    let file = context.open(arguments.node).map_err(nothing_known)?;
    let (offset, count) = (arguments.offset, arguments.count.into());
    let mut change = Change::default();
    let outcome =
        file.file_system.commit(&file.caller, CommitFile::new(&file.handle, offset, count), &mut change);
    let consistency = file.consistency(&change);
    match outcome {
        Ok(committed) => Ok(Success { file: consistency, verifier: committed.verifier }),
        Err(error) => Err(Refused { status: convert::status(error), detail: consistency }),
    }
}
