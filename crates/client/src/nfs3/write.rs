//! WRITE: one of them.

use howdah_vfs::{Change, FsError, Result, Written};
use howdah_wire::nfs3::write;

use super::client::Nfs3;
use super::convert::{file_handle, how_durable, note, stability};
use super::exchange::{Results, success};
use super::procedure::Procedure;
use crate::channel::{Class, Pending, Request};
use crate::common::WritePart;

const PROCEDURE: Procedure = Procedure::idempotent(write::PROCEDURE, "WRITE", Class::Write);

fn head<'p>(part: &WritePart<'p>) -> Result<write::Head<'p>> {
    let length = u32::try_from(part.data.len()).map_err(|_| FsError::Invalid)?;
    Ok(write::Head {
        node: file_handle(part.node),
        offset: part.offset,
        count: length,
        stability: how_durable(part.how),
        length,
    })
}

impl Nfs3 {
    pub(super) fn begin_write(&self, part: &WritePart<'_>) -> Result<Pending> {
        Ok(self.channel.start(self.write_request(part, &head(part)?)))
    }

    pub(super) fn end_write(
        &self,
        part: &WritePart<'_>,
        mut started: Option<Pending>,
        change: &mut Change,
    ) -> Result<Written> {
        let mut part = part.clone();
        let answer = loop {
            let head = head(&part)?;
            let request = || self.write_request(&part, &head);
            match self.insist_unless_too_large(PROCEDURE, started.take(), request)? {
                Ok(answer) => break answer,
                // As much as passes; the caller writes on from there.
                Err(transfer) => part.data.truncate(transfer),
            }
        };
        let results = Results::from(answer);
        let reply = success(results.decode::<write::Reply>(PROCEDURE)?, |reply| note(change, reply))?;
        note(change, &reply.file);
        let (count, asked) = (reply.count as usize, part.data.len());
        let committed = stability(reply.committed);
        // A server that wrote less durably than asked broke the protocol: what it says is all it is.
        if count > asked || (count == 0 && asked > 0) || committed < part.how {
            tracing::warn!(asked, count, ?committed, how = ?part.how, "the server did not write what was requested");
            return Err(FsError::ServerFault);
        }
        Ok(Written { count, stability: committed, verifier: reply.verifier })
    }

    fn write_request<'r>(&'r self, part: &WritePart<'_>, head: &'r write::Head<'_>) -> Request<'r> {
        self.request(part.caller, PROCEDURE, head, Some(part.data.clone()), None)
    }
}
