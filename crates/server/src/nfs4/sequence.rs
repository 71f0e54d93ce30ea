//! The slot of a session that a compound runs in, and what its reply may take.

use howdah_state::{LiveSession, SlotGuard};
use howdah_wire::nfs4::Status;

use crate::Reply;
use crate::states::SessionData;

/// A slot that is taken. It is free again when this is dropped.
pub struct Sequence {
    guard: SlotGuard<SessionData>,
    keeps: bool,
}

impl Sequence {
    /// A slot whose reply is to be kept, or not.
    pub fn new(guard: SlotGuard<SessionData>, keeps: bool) -> Self {
        Self { guard, keeps }
    }

    /// The session.
    pub fn session(&self) -> &LiveSession<SessionData> {
        self.guard.session()
    }

    /// Whether the reply may grow by so many bytes.
    ///
    /// # Errors
    /// It would be too big, or too big to be kept.
    pub fn room(&self, reply: &Reply, more: usize) -> Result<(), Status> {
        let fore = &self.session().data().fore;
        let length = reply.message_length() + more;
        if length > fore.response as usize {
            return Err(Status::REP_TOO_BIG);
        }
        if self.keeps && length > fore.kept_response as usize {
            return Err(Status::REP_TOO_BIG_TO_CACHE);
        }
        Ok(())
    }

    /// The compound ended so: keeps its reply for a retry, if it is to be kept. `from`: where the results behind SEQUENCE's begin.
    pub fn finish(self, reply: &Reply, from: usize, status: Status, results: u32) {
        let keeps = (self.keeps || results == 1) && !reply.has_content();
        let kept = keeps.then(|| {
            let head = [status.0.to_be_bytes(), results.to_be_bytes()];
            [head.as_flattened(), &reply.message()[from..]].concat()
        });
        self.guard.finish(kept.as_deref());
    }
}
