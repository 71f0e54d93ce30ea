//! WRITE: one of them.

use howdah_vfs::{Caller, Change, FsError, Handle, Result, Stability, Written};
use howdah_wire::nfs3::write;

use super::client::Nfs3;
use super::convert::{file_handle, how_durable, note, stability};
use super::exchange::{Results, success};
use super::procedure::Procedure;
use crate::channel::{Class, Payload, Pending, Request};

const PROCEDURE: Procedure = Procedure::idempotent(write::PROCEDURE, "WRITE", Class::Write);

/// What to write.
#[derive(Clone)]
pub(super) struct Part<'p> {
    pub(super) caller: &'p Caller,
    pub(super) node: &'p Handle,
    pub(super) offset: u64,
    pub(super) data: Payload,
    pub(super) how: Stability,
}

impl Part<'_> {
    /// Takes up to `size` bytes off the front. What would lie beyond the largest offset is beyond any file: the server says
    /// so, and tells of the file besides.
    pub(super) fn take(&mut self, size: usize) -> Self {
        let data = self.data.split_to(size);
        let front = Self { data, ..self.clone() };
        self.offset = self.offset.saturating_add(front.data.len() as u64);
        front
    }

    fn head(&self) -> Result<write::Head<'_>> {
        let length = u32::try_from(self.data.len()).map_err(|_| FsError::Invalid)?;
        Ok(write::Head {
            node: file_handle(self.node),
            offset: self.offset,
            count: length,
            stability: how_durable(self.how),
            length,
        })
    }
}

impl Nfs3 {
    /// Starts a WRITE.
    pub(super) fn start_write(&self, part: &Part<'_>) -> Result<Pending> {
        Ok(self.channel.start(self.write_request(part, &part.head()?)))
    }

    /// Waits for a WRITE that was started, or makes it.
    pub(super) fn finish_write(
        &self,
        part: &Part<'_>,
        mut started: Option<Pending>,
        change: &mut Change,
    ) -> Result<Written> {
        let mut part = part.clone();
        let answer = loop {
            let head = part.head()?;
            let request = || self.write_request(&part, &head);
            match self.insist_unless_too_large(PROCEDURE, started.take(), request)? {
                Ok(answer) => break answer,
                // As much as passes; the caller writes on from there.
                Err(transfer) => part.data.truncate(transfer),
            }
        };
        let results = Results::from(answer);
        let told = success(results.decode::<write::Reply>(PROCEDURE)?, |told| note(change, told))?;
        note(change, &told.file);
        let (count, asked) = (told.count as usize, part.data.len());
        let committed = stability(told.committed);
        // A server that wrote less durably than it was told to broke the protocol: what it says is all it is.
        if count > asked || (count == 0 && asked > 0) || committed < part.how {
            tracing::warn!(asked, count, ?committed, how = ?part.how, "the server did not write what was requested");
            return Err(FsError::ServerFault);
        }
        Ok(Written { count, stability: committed, verifier: told.verifier })
    }

    fn write_request<'r>(&'r self, part: &Part<'_>, head: &'r write::Head<'_>) -> Request<'r> {
        self.request(part.caller, PROCEDURE, head, Some(part.data.clone()), None)
    }
}
