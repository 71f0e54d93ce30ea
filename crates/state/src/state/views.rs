//! What an administrator sees: which clients hold what, and which wait for which.

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::NfsState;
use crate::clients::ClientRecord;
use crate::files::Party;
use crate::ids::{ByteRange, ClientId, HostId, LockKind, LockOwner, Principal};

/// A client of NFSv4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientView {
    /// Its id.
    pub client: ClientId,
    /// Its name of itself.
    pub owner: Box<[u8]>,
    /// Who it is.
    pub principal: Principal,
    /// Where its EXCHANGE_ID came from.
    pub peer: IpAddr,
    /// Whether its lease holds.
    pub standing: ClientStanding,
    /// How long it has been silent.
    pub silence: Duration,
    /// Sessions.
    pub sessions: usize,
    /// Slots of the session of which it uses most, as it said last, and how many it may use there.
    pub slots: (u32, u32),
    /// Opens.
    pub opens: usize,
    /// Byte ranges that are locked.
    pub locks: usize,
    /// Read delegations.
    pub delegations: usize,
}

/// Whether a client's lease holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientStanding {
    /// No session yet.
    Unconfirmed,
    /// Its lease holds.
    Active,
    /// Its lease passed: it keeps what nobody wants.
    Courtesy,
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockView<'a, K> {
    /// The file.
    pub key: &'a K,
    /// Who.
    pub owner: &'a LockOwner,
    /// How.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
}

/// A lock that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitView<'a, K> {
    /// The file.
    pub key: &'a K,
    /// Who waits.
    pub owner: &'a LockOwner,
    /// How it is to be locked.
    pub kind: LockKind,
    /// Which bytes.
    pub range: ByteRange,
    /// Who holds it; none if it is the waiter's turn.
    pub holder: Option<&'a LockOwner>,
}

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Whether nobody has any state.
    pub fn is_empty(&self) -> bool {
        self.clients.iter().next().is_none() && self.hosts.iter().next().is_none()
    }

    /// Clients of NFSv4, the oldest first.
    pub fn clients(&self, now: Duration) -> impl Iterator<Item = ClientView> + '_ {
        let mut records: Vec<&ClientRecord> = self.clients.iter().collect();
        records.sort_unstable_by_key(|record| record.made);
        records.into_iter().map(move |record| self.view(now, record))
    }

    /// NLM hosts, as they were named.
    pub fn hosts(&self) -> impl Iterator<Item = (HostId, &[u8])> + '_ {
        self.hosts.iter().map(|(id, host)| (id, &*host.name))
    }

    /// Locks that are held.
    pub fn locks(&self) -> impl Iterator<Item = LockView<'_, K>> + '_ {
        self.files.locks().map(|(key, (owner, range, kind))| LockView { key, owner, kind, range })
    }

    /// Locks that are waited for.
    pub fn waits(&self) -> impl Iterator<Item = WaitView<'_, K>> + '_ {
        self.files.waiters().map(|(key, file, waiter)| {
            let holder = file.locks.conflicts(&waiter.owner, waiter.range, waiter.kind).next();
            let holder = holder.map(|(owner, ..)| owner);
            WaitView { key, owner: &waiter.owner, kind: waiter.kind, range: waiter.range, holder }
        })
    }

    fn view(&self, now: Duration, record: &ClientRecord) -> ClientView {
        let sessions = record.sessions.iter().filter_map(|session| self.sessions.find(*session));
        let slots = sessions.map(|session| (session.slots().used(), session.slots().granted())).max();
        ClientView {
            client: record.id,
            owner: record.owner.clone(),
            principal: record.principal.clone(),
            peer: record.peer,
            standing: match record.is_confirmed {
                false => ClientStanding::Unconfirmed,
                true if record.is_lapsed(now, self.settings.lease) => ClientStanding::Courtesy,
                true => ClientStanding::Active,
            },
            silence: record.shared.silence(now),
            sessions: record.sessions.len(),
            slots: slots.unwrap_or_default(),
            opens: self.states.get(&record.id).map_or(0, |states| states.count_opens()),
            locks: self.files.ranges_of(Party::Client(record.id)),
            delegations: self.states.get(&record.id).map_or(0, |states| states.count_delegations()),
        }
    }
}
