//! COMMIT.

use howdah_vfs::{Caller, Change, CommitFile, Committed, Result};
use howdah_wire::nfs4::{commit, putfh};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::operation::Operation;
use crate::channel::Class;

impl Nfs4Client {
    pub(super) fn commit_range(
        &self,
        caller: &Caller,
        CommitFile { node, offset, count }: CommitFile<'_>,
        change: &mut Change,
    ) -> Result<Committed> {
        // More than the protocol can say is "up to the end".
        let arguments = commit::Arguments { offset, count: u32::try_from(count).unwrap_or(0) };
        let operations = [self.put(node)?, Operation::Commit(arguments), LOOK];
        let results = self.call(caller, &Compound::new("COMMIT", Class::Commit, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let reply = reader.take::<commit::Success>(commit::OPERATION)?;
        *change = Change { before: None, after: reader.look().ok() };
        Ok(Committed { verifier: reply.verifier.0 })
    }
}
