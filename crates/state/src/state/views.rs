//! What an administrator sees: which clients hold what, and which wait for which.

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::NfsState;
use crate::clients::ClientRecord;
use crate::files::Party;
use crate::ids::{ClientId, Principal};
use crate::states::ClientStates;

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

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Clients of NFSv4, the oldest first.
    pub fn clients(&self, now: Duration) -> impl Iterator<Item = ClientView> + '_ {
        let mut records: Vec<&ClientRecord> = self.clients.iter().collect();
        records.sort_unstable_by_key(|record| record.made);
        records.into_iter().map(move |record| {
            let sessions = record.sessions.iter().filter_map(|session| self.sessions.find(*session));
            let states = self.states.of(record.id).ok();
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
                opens: states.map_or(0, ClientStates::count_opens),
                locks: self.files.locks.ranges.usage().count(Party::Client(record.id)),
                delegations: states.map_or(0, ClientStates::count_delegations),
            }
        })
    }
}
