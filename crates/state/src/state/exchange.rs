//! EXCHANGE_ID (RFC 8881 18.35).

use std::cmp::Reverse;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::{ExchangeAnswer, NfsState};
use crate::clients::{ClientIdentity, ClientRecord, Exchange, decide};
use crate::effects::ClientEnd;
use crate::error::StateError;
use crate::ids::ClientId;
use crate::memory;

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
        let ClientIdentity { owner, verifier, principal, peer, network, .. } = identity;
        let confirmed = self.clients.confirmed(owner);
        let old = confirmed.map(|record| (record, self.is_in_use(record, now)));
        match (decide(old, principal, verifier, update)?, confirmed) {
            (Exchange::Same, Some(record)) => {
                record.shared.renew(now);
                let answer = answer(record);
                self.clients.move_to(answer.client, (peer, network));
                return Ok(answer);
            }
            (Exchange::Replace, Some(record)) => self.replace_client(now, record.id, principal),
            _ => {}
        }
        // Only its own: else a host that repeats EXCHANGE_ID under another's name keeps that one from ever making a session.
        if let Some(unconfirmed) = self.clients.unconfirmed(owner, identity.caller()) {
            self.end_client(now, unconfirmed, ClientEnd::Replaced);
        }
        self.make_room(now, network)?;
        let bytes = memory::CLIENT + 3 * owner.len();
        self.room(now, network, None, bytes).map_err(|_| StateError::Delay)?;
        Ok(answer(self.clients.add(now, identity)))
    }

    /// Whether another principal may not take its name.
    pub(super) fn is_in_use(&self, record: &ClientRecord, now: Duration) -> bool {
        !record.is_lapsed(now, self.settings.lease)
            && (self.has_state(record.id) || !record.sessions.is_empty())
    }

    /// Room for one more client: within its network, or within the one with the most clients. The longest silent goes of those whose
    /// lease has passed, that are unconfirmed, or that have neither opens nor locks: these lose nothing.
    fn make_room(&mut self, now: Duration, network: IpAddr) -> Result<(), StateError> {
        let bounds = &self.settings.bounds;
        let goes = if self.clients.count_of(network) >= bounds.clients_of_peer {
            self.who_goes(now, self.clients.of_network(network))
        } else if self.clients.count() >= bounds.clients {
            let fullest = self.clients.fullest_network().unwrap_or(network);
            let goes = self.who_goes(now, self.clients.of_network(fullest));
            goes.or_else(|| self.who_goes(now, self.clients.iter()))
        } else {
            return Ok(());
        };
        self.end_client(now, goes.ok_or(StateError::Delay)?, ClientEnd::Expired);
        Ok(())
    }

    fn who_goes<'a>(&self, now: Duration, of: impl Iterator<Item = &'a ClientRecord>) -> Option<ClientId> {
        let silent = of.filter(|record| self.may_go(record, now));
        silent.max_by_key(|record| (record.shared.silence(now), Reverse(record.made))).map(|record| record.id)
    }

    fn may_go(&self, record: &ClientRecord, now: Duration) -> bool {
        if record.is_confirmed {
            return !self.has_state(record.id) || record.is_lapsed(now, self.settings.lease);
        }
        // One that has just called is about to send CREATE_SESSION.
        record.shared.silence(now) > self.settings.lease / 8
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
