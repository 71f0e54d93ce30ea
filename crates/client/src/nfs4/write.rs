//! WRITE: one of them.

use howdah_vfs::{Change, FsError, Result, Written};
use howdah_wire::nfs4::{StateId, putfh, write};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::{how_durable, stability};
use super::exchange::Tries;
use super::operation::Operation;
use super::results::Results;
use crate::channel::{Class, Pending};
use crate::common::WritePart;

const NAME: &str = "WRITE";

impl Nfs4Client {
    pub(super) fn begin_write(&self, part: &WritePart<'_>) -> Result<Pending> {
        let head = write::Head {
            state: StateId::ANONYMOUS,
            offset: part.offset,
            stability: how_durable(part.how),
            length: u32::try_from(part.data.len()).map_err(|_| FsError::Invalid)?,
        };
        let operations = [self.put(part.node), Operation::Write(head)];
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
        let answer = loop {
            let pending = started.take().map_or_else(|| self.begin_write(part), Ok)?;
            let answer = tries.wait(pending)?;
            if tries.is_final(&answer, None)? {
                break answer;
            }
        };
        let results = Results { name: NAME, bytes: answer.results, repeated: false };
        let mut reader = results.read()?;
        let told =
            reader.skip(putfh::OPERATION).and_then(|()| reader.take::<write::Success>(write::OPERATION));
        let told = told.inspect_err(|_| {
            *change = Change { before: None, after: self.get_attributes(part.caller, part.node).ok() };
        })?;
        // What it was before is not known: others may write, too.
        *change = Change { before: None, after: reader.look().ok() };
        let (count, asked) = (told.count as usize, part.data.len());
        let committed = stability(told.committed);
        // A server that wrote less durably than it was told to broke the protocol: what it says is all it is.
        if count > asked || (count == 0 && asked > 0) || committed < part.how {
            tracing::warn!(asked, count, ?committed, how = ?part.how, "the server did not write what was requested");
            return Err(FsError::ServerFault);
        }
        Ok(Written { count, stability: committed, verifier: told.verifier.0 })
    }
}
