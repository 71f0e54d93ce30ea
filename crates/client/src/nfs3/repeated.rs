//! Answers to calls that were sent more than once. A server remembers its replies, so that a repetition is answered as the
//! first time; but it may have restarted, or forgotten, or the repetition came over another connection. Then the refusal
//! may come from a second run of a call whose first one went well, and its reply lost.
//!
//! The BSD kernels take such a refusal for success always; Linux hands it to the application. Here it is looked into, but
//! only where the call really was sent twice, and it becomes a success only where the server shows what the call was to
//! bring about. So `rm` does not fail for a file it removed, and a lock made by LINK is never thought to be held by two.

use howdah_vfs::{FsError, Node, Result};

use super::client::Nfs3;
use super::exchange::Results;
use super::made::Place;
use crate::common::are_at_once;

impl Nfs3 {
    /// Judges an answer: if the call was sent more than once and is refused with `telltale`, `look` says whether what it was to
    /// bring about is there, and what a success would have returned. When it cannot see, the refusal stays.
    pub(super) fn judge<T>(
        &self,
        results: &Results,
        outcome: Result<T>,
        telltale: FsError,
        look: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<T> {
        match outcome {
            Err(error) if error == telltale && results.repeated => {
                let seen = look().ok().flatten();
                tracing::debug!(%error, believed = seen.is_none(), "a refusal of a call that was sent more than once");
                seen.ok_or(error)
            }
            other => other,
        }
    }

    /// Whether a node was the last thing that happened in its directory, and nothing has happened to it since. One that was
    /// there before our call was made does not look so, unless somebody else made it at the same time.
    pub(super) fn is_just_made(&self, place: Place<'_>, node: &Node) -> Result<bool> {
        let directory = self.get_attributes(place.caller, place.directory)?;
        let made = node.attributes.changed;
        Ok(are_at_once(made, node.attributes.modified) && are_at_once(made, directory.modified))
    }
}
