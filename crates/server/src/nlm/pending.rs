//! Locks that hosts got after they waited, and do not know of yet.

use std::collections::HashMap;

use crate::locks::Mutex;
use howdah_state::{ByteRange, HostId, LockGrant, LockKind, NlmOwner};

use crate::states::{FileKey, GrantTicket};

/// A lock that a host got after it waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Who.
    pub owner: NlmOwner,
    /// What.
    pub grant: LockGrant<FileKey>,
    /// Whether the host may have got the call: then only the host itself can say that it does not have it.
    pub may_be_told: bool,
}

/// All of them. An answer and a call back may say the same at the same time, so this changes only while the state is locked, but
/// for notes of what was sent.
#[derive(Debug, Default)]
pub struct PendingGrants {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    noted: u64,
    by_file: HashMap<FileKey, Vec<(u64, Grant)>>,
}

impl PendingGrants {
    /// Notes a grant.
    pub fn note(&self, owner: NlmOwner, grant: LockGrant<FileKey>) -> GrantTicket {
        let mut table = self.table.lock();
        table.noted += 1;
        let ticket = GrantTicket { file: grant.key, host: owner.host, number: table.noted };
        let grant = Grant { owner, grant, may_be_told: false };
        table.by_file.entry(ticket.file).or_default().push((ticket.number, grant));
        ticket
    }

    /// A grant, if the host is still to get its call.
    pub fn get(&self, ticket: GrantTicket) -> Option<Grant> {
        let table = self.table.lock();
        let of_file = table.by_file.get(&ticket.file)?;
        of_file.iter().find(|(number, _)| *number == ticket.number).map(|(_, grant)| grant.clone())
    }

    /// The host may have got the call.
    pub fn may_be_told(&self, ticket: GrantTicket) {
        let mut table = self.table.lock();
        let of_file = table.by_file.get_mut(&ticket.file).into_iter().flatten();
        of_file
            .filter(|(number, _)| *number == ticket.number)
            .for_each(|(_, grant)| grant.may_be_told = true);
    }

    /// Takes a grant out, if it is there.
    pub fn remove(&self, ticket: GrantTicket) -> Option<LockGrant<FileKey>> {
        self.take(&ticket.file, |number, _| number == ticket.number).pop()
    }

    /// The host knows what it has of these bytes, or has let them go. The grants of which it was still to be called.
    pub fn settle(&self, file: &FileKey, owner: &NlmOwner, range: ByteRange) -> Vec<LockGrant<FileKey>> {
        self.take(file, |_, grant| grant.owner == *owner && grant.grant.range.overlaps(range))
    }

    /// The host waits for this lock no longer. The grants of which it was still to be called.
    pub fn cancel(
        &self,
        file: &FileKey,
        owner: &NlmOwner,
        (range, kind): (ByteRange, LockKind),
    ) -> Vec<LockGrant<FileKey>> {
        self.take(file, |_, grant| {
            grant.owner == *owner && (grant.grant.range, grant.grant.kind) == (range, kind)
        })
    }

    /// A host has nothing any more.
    pub fn forget(&self, host: HostId) {
        let mut table = self.table.lock();
        table.by_file.retain(|_, of_file| {
            of_file.retain(|(_, grant)| grant.owner.host != host);
            !of_file.is_empty()
        });
    }

    fn take(&self, file: &FileKey, is_over: impl Fn(u64, &Grant) -> bool) -> Vec<LockGrant<FileKey>> {
        let mut table = self.table.lock();
        let Some(of_file) = table.by_file.get_mut(file) else { return Vec::new() };
        let taken = of_file.extract_if(.., |(number, grant)| is_over(*number, grant));
        let taken = taken.map(|(_, grant)| grant.grant).collect();
        if of_file.is_empty() {
            table.by_file.remove(file);
        }
        taken
    }
}
