//! A whole file in one compound: OPEN that makes it, WRITE, SETATTR, CLOSE, and RENAME to its final name.

use howdah_vfs::{
    Caller, Create, FsError, Handle, NewAttributes, PutFile, Result, WHOLE_FILE_MAX, WholeFiles,
};
use howdah_wire::nfs4::attributes::{self as wire, Values};
use howdah_wire::nfs4::{StateId, Status, getfh, open, putfh, rename, restorefh, savefh, verify, write};

use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::{ToSet, how_durable, stability};
use super::create::{self, open_new};
use super::exchange::Tries;
use super::new_file::NewFile;
use super::operation::Operation;
use super::refusal::is_of_state;
use super::results::{ResultReader, Results, Stopped};
use super::set_attributes::{SETTABLE, set};
use crate::channel::{Class, Payload};
use crate::common::Transfers;

const NAME: &str = "OPEN, WRITE and RENAME";
/// The mode of a file until it is complete.
const MODE_UNTIL_COMPLETE: u32 = 0o600;

impl WholeFiles for Nfs4Client {
    fn put_file(&self, caller: &Caller, put: PutFile<'_>) -> Result<Handle> {
        let fits = self.within_transfer(self.sizes.write).min(WHOLE_FILE_MAX);
        if put.data.len() > fits {
            return Err(FsError::TooBig);
        }
        let whole = WholePut { client: self, caller, put };
        whole.take(&whole.send()?)
    }
}

/// A file that is made whole.
struct WholePut<'p> {
    client: &'p Nfs4Client,
    caller: &'p Caller,
    put: PutFile<'p>,
}

impl WholePut<'_> {
    /// A file that is made whole gets its final name only if it has all of its data, and one name: that which it was made under. An
    /// operation that is refused leaves those behind it undone.
    fn send(&self) -> Result<Results> {
        let Self { client, caller, put } = self;
        let how = Create::Guarded(NewAttributes::with_mode(MODE_UNTIL_COMPLETE));
        let (new_file, owner) = (NewFile::of(&how, client.facts.exclusive), client.making.next_owner(caller));
        let (then, mut buffer) = (ToSet::new(put.new, SETTABLE), Vec::new());
        let end = [
            set(&then, StateId::ANONYMOUS),
            Operation::Close(StateId::CURRENT),
            Operation::RefuseUnless(complete(put, &mut buffer)),
            Operation::RestoreHandle,
            Operation::Rename { from: put.partial.as_bytes(), to: put.name.as_bytes() },
        ];
        let mut operations = Vec::with_capacity(5 + end.len());
        operations.extend([client.put(put.directory)?, Operation::SaveHandle]);
        operations.push(open_new(&new_file, &owner, put.partial.as_bytes()));
        operations.push(Operation::GetHandle);
        if put.data.is_empty() {
            operations.extend(end);
            return client.call(caller, &Compound::change(NAME, &operations));
        }
        operations.push(Operation::Write(write::Head {
            state: StateId::CURRENT,
            offset: 0,
            stability: how_durable(put.stability),
            length: put.data.len() as u32,
        }));
        let compound = Compound { behind: &end, ..Compound::new(NAME, Class::Write, &operations) };
        let mut tries = Tries::new(&client.calls, NAME);
        loop {
            let payload = Payload::Memory(put.data.clone());
            let pending = client.start(caller, &compound, Some(payload), None);
            let Some(answer) = tries.wait(pending, None)? else { continue };
            if tries.is_final(&answer, Some(&compound))? {
                return Ok(tries.results(answer));
            }
        }
    }

    fn take(&self, results: &Results) -> Result<Handle> {
        let Self { client, caller, put } = self;
        let mut reader = results.read().inspect_err(|stopped| self.note(*stopped))?;
        reader.skip(putfh::OPERATION)?;
        reader.skip(savefh::OPERATION)?;
        let opened = reader.take::<open::Success<'_>>(open::OPERATION)?;
        let handle = match reader.take::<getfh::Success<'_>>(getfh::OPERATION) {
            Ok(reply) => client.calls.handles.learn(reply.node)?,
            Err(stopped) => {
                // It is made, and open.
                let there = client.look_up(caller, put.directory, put.partial.as_bytes())?.node;
                client.close_file(caller, &there.handle, opened.state);
                return Err(stopped.into());
            }
        };
        if let Err(stopped) = fill(&mut reader, put) {
            // It is still open.
            client.close_file(caller, &handle, opened.state);
            self.note(stopped);
            return Err(stopped.into());
        }
        place(&mut reader).inspect_err(|stopped| self.note(*stopped))?;
        Ok(handle)
    }

    /// A server that cannot do it is not asked again.
    fn note(&self, stopped: Stopped) {
        let Stopped::Refused(operation, status) = stopped else { return };
        let cannot = is_of_state(status)
            || matches!(
                status,
                Status::NOTSUPP
                    | Status::OP_ILLEGAL
                    | Status::TOO_MANY_OPS
                    | Status::REQ_TOO_BIG
                    | Status::REP_TOO_BIG
                    | Status::REP_TOO_BIG_TO_CACHE
            )
            || (status == Status::ATTRNOTSUPP && operation == verify::OPERATION);
        if cannot {
            tracing::debug!(operation, %status, "the server makes no whole file in one compound");
            self.client.making.forgo_whole();
        }
    }
}

/// What a complete file has.
fn complete<'b>(put: &PutFile<'_>, buffer: &'b mut Vec<u8>) -> Values<'b> {
    let mut values = wire::Attributes::default();
    values.content.size = Some(put.data.len() as u64);
    values.content.links = Some(1);
    Values::of(&values, buffer)
}

/// Takes the results up to that of CLOSE.
fn fill(reader: &mut ResultReader<'_>, put: &PutFile<'_>) -> std::result::Result<(), Stopped> {
    if !put.data.is_empty() {
        let written = reader.take::<write::Success>(write::OPERATION)?;
        // A short WRITE is noticed by VERIFY.
        if stability(written.committed) < put.stability {
            tracing::warn!(how = ?put.stability, "the server wrote less durably than requested");
            return Err(Stopped::Malformed);
        }
    }
    reader.set()?;
    create::close(reader)
}

/// Takes the results behind that of CLOSE.
fn place(reader: &mut ResultReader<'_>) -> std::result::Result<(), Stopped> {
    reader.skip(verify::OPERATION)?;
    reader.skip(restorefh::OPERATION)?;
    reader.take::<rename::Success>(rename::OPERATION).map(drop)
}
