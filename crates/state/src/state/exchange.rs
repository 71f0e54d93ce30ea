//! EXCHANGE_ID (RFC 8881 18.35).

use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::{ClientIdentity, ExchangeAnswer, NfsState};
use crate::clients::{ClientRecord, Exchange, decide};
use crate::effects::ClientEnd;
use crate::error::StateError;
use crate::ids::ClientId;

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// EXCHANGE_ID (RFC 8881 18.35.4; `update` is `EXCHGID4_FLAG_UPD_CONFIRMED_REC_A`). A client that restarted is a new one, and what it
    /// had stays until CREATE_SESSION confirms it. An unconfirmed client lives a lease.
    ///
    /// # Errors
    ///
    /// [`StateError::ClientIdInUse`], [`StateError::NotSame`], [`StateError::Permission`], [`StateError::NoEntry`];
    /// [`StateError::Delay`] if there are too many clients.
    pub fn exchange_id(
        &mut self,
        now: Duration,
        identity: ClientIdentity<'_>,
        update: bool,
    ) -> Result<ExchangeAnswer, StateError> {
        let ClientIdentity { owner, verifier, principal, peer, server } = identity;
        let confirmed = self.clients.confirmed(owner);
        let old = confirmed.map(|record| (record, self.is_in_use(record, now)));
        match (decide(old, principal, verifier, update)?, confirmed) {
            (Exchange::Same, Some(record)) => {
                record.shared.renew(now);
                return Ok(answer(record));
            }
            (Exchange::Replace, Some(record)) => self.end_client(now, record.id, ClientEnd::Replaced),
            _ => {}
        }
        if let Some(unconfirmed) = self.clients.unconfirmed(owner) {
            self.end_client(now, unconfirmed, ClientEnd::Replaced);
        }
        self.make_room(now, peer)?;
        let record = self.clients.add(now, (owner, verifier), principal, (peer, server));
        Ok(answer(record))
    }

    /// Whether another principal may not take its name.
    fn is_in_use(&self, record: &ClientRecord, now: Duration) -> bool {
        !record.is_lapsed(now, self.settings.lease)
            && (self.has_state(record.id) || !record.sessions.is_empty())
    }

    /// Room for one more client: the longest silent go whose lease has passed, and unconfirmed ones.
    fn make_room(&mut self, now: Duration, peer: IpAddr) -> Result<(), StateError> {
        let bounds = &self.settings.bounds;
        let is_peer_full = self.clients.count_of(peer) >= bounds.clients_of_peer;
        if !is_peer_full && self.clients.count() < bounds.clients {
            return Ok(());
        }
        let is_of = |record: &&ClientRecord| !is_peer_full || record.peer == peer;
        let goes = self.clients.iter().filter(is_of).filter(|record| self.may_go(record, now));
        let longest = goes.max_by_key(|record| record.shared.silence(now)).map(|record| record.id);
        self.end_client(now, longest.ok_or(StateError::Delay)?, ClientEnd::Expired);
        Ok(())
    }

    fn may_go(&self, record: &ClientRecord, now: Duration) -> bool {
        let silence = record.shared.silence(now);
        // Who has just asked is about to send CREATE_SESSION.
        let unconfirmed = !record.is_confirmed && silence > self.settings.lease / 8;
        unconfirmed || silence > self.settings.lease
    }
}

fn answer(record: &ClientRecord) -> ExchangeAnswer {
    ExchangeAnswer { client: record.id, sequence: record.creation.next(), is_confirmed: record.is_confirmed }
}

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// Whether a client has opens, and so perhaps locks, or delegations.
    pub(super) fn has_state(&self, client: ClientId) -> bool {
        self.states.get(&client).is_some_and(|states| states.count() > states.count_revoked())
    }
}
