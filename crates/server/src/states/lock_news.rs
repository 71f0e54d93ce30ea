//! Receives the news of locks that hosts waited for.

use std::net::IpAddr;

use howdah_state::{HostId, LockGrant, NlmOwner};

use super::file_key::FileKey;

/// A grant that was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GrantTicket {
    /// The file.
    pub file: FileKey,
    /// The host.
    pub host: HostId,
    /// The grant, among all.
    pub number: u64,
}

/// Who calls hosts back when they get a lock that they waited for.
pub trait LockNews: Send + Sync {
    /// A host got a lock. Called while the state is locked: to be noted, and sent when it is durable.
    fn note(&self, owner: NlmOwner, grant: LockGrant<FileKey>) -> GrantTicket;

    /// It is durable: the host at this address may get the news.
    fn tell(&self, ticket: GrantTicket, client: IpAddr);

    /// A lock that a host got is taken back before the host got the news. Called while the state is locked.
    fn withdraw(&self, ticket: GrantTicket) -> Option<LockGrant<FileKey>>;

    /// A host has nothing any more. Called while the state is locked.
    fn forget(&self, host: HostId);
}
