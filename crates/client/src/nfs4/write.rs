//! WRITE: one of them.

use howdah_vfs::{Change, FsError, Result, Written};
use howdah_wire::nfs4::{putfh, write};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::{how_durable, stability};
use super::exchange::Tries;
use super::open_file::WRITES;
use super::operation::Operation;
use super::results::{ResultReader, Results, Stopped};
use crate::channel::{Class, Pending};
use crate::common::WritePart;

const NAME: &str = "WRITE";

impl Nfs4Client {
    pub(super) fn begin_write(&self, part: &WritePart<'_>) -> Result<Pending> {
        let head = write::Head {
            state: self.state_for(part.caller, part.node, WRITES)?,
            offset: part.offset,
            stability: how_durable(part.how),
            length: u32::try_from(part.data.len()).map_err(|_| FsError::Invalid)?,
        };
        let operations = [self.put(part.node)?, Operation::Write(head)];
        let compound = Compound { behind: &[LOOK], ..Compound::new(NAME, Class::Write, &operations) };
        Ok(self.start(part.caller, &compound, Some(part.data.clone()), None))
    }

    pub(super) fn end_write(
        &self,
        part: &WritePart<'_>,
        mut started: Option<Pending>,
        change: &mut Change,
    ) -> Result<Written> {
        let mut tries = Tries::new(&self.calls, NAME);
        let (results, reply) = loop {
            let pending = started.take().map_or_else(|| self.begin_write(part), Ok)?;
            let Some(answer) = tries.wait(pending, None)? else { continue };
            if !tries.is_final(&answer, None)? {
                continue;
            }
            let results = Results { name: NAME, bytes: answer.results, repeated: false };
            let reply = written(&mut results.read()?);
            match reply {
                Err(stopped)
                    if self.is_for_state((part.caller, part.node, WRITES), &mut tries, stopped)? => {}
                reply => break (results, reply),
            }
        };
        let reply = reply.inspect_err(|_| {
            *change = Change { before: None, after: self.get_attributes(part.caller, part.node).ok() };
        })?;
        // What it was before is not known: others may write, too.
        let mut reader = results.read()?;
        let after = written(&mut reader).ok().and_then(|_| reader.look().ok());
        *change = Change { before: None, after };
        let (count, asked) = (reply.count as usize, part.data.len());
        let committed = stability(reply.committed);
        // A server that wrote less durably than asked broke the protocol: what it says is all it is.
        if count > asked || (count == 0 && asked > 0) || committed < part.how {
            tracing::warn!(asked, count, ?committed, how = ?part.how, "the server did not write what was requested");
            return Err(FsError::ServerFault);
        }
        Ok(Written { count, stability: committed, verifier: reply.verifier.0 })
    }
}

fn written(reader: &mut ResultReader<'_>) -> std::result::Result<write::Success, Stopped> {
    reader.skip(putfh::OPERATION)?;
    reader.take(write::OPERATION)
}
