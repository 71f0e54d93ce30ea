//! EXCHANGE_ID (RFC 8881 18.35).

use std::cmp::Reverse;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use super::{ExchangeAnswer, NfsState};
use crate::clients::{ClientIdentity, ClientRecord, Exchange, decide};
use crate::effects::ClientEnd;
use crate::error::StateError;
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
            (Exchange::Replace, Some(record)) => self.end_client(now, record.id, ClientEnd::Replaced, false),
            _ => {}
        }
        // Only its own: else a host that repeats EXCHANGE_ID under another's name keeps that one from ever making a session.
        if let Some(unconfirmed) = self.clients.unconfirmed(owner, identity.caller()) {
            self.end_client(now, unconfirmed, ClientEnd::Replaced, false);
        }
        self.make_room(now, network)?;
        let bytes = memory::CLIENT + 3 * owner.len();
        self.room(now, network, None, bytes).map_err(|_| StateError::Delay)?;
        Ok(answer(self.clients.add(now, identity)))
    }

    /// Whether another principal may not take its name.
    pub(super) fn is_in_use(&self, record: &ClientRecord, now: Duration) -> bool {
        !record.is_lapsed(now, self.settings.lease)
            && (self.states.has_any(record.id) || !record.sessions.is_empty())
    }

    /// Room for one more client: within its network, or within the one with the most clients. The longest silent goes of those whose
    /// lease has passed, that are unconfirmed, or that have neither opens nor locks: these lose nothing.
    fn make_room(&mut self, now: Duration, network: IpAddr) -> Result<(), StateError> {
        let bounds = &self.settings.bounds;
        let may_go = |record: &&ClientRecord| {
            if record.is_confirmed {
                return !self.states.has_any(record.id) || record.is_lapsed(now, self.settings.lease);
            }
            // One that has just called is about to send CREATE_SESSION.
            record.shared.silence(now) > self.settings.lease / 8
        };
        let silence = |record: &&ClientRecord| (record.shared.silence(now), Reverse(record.made));
        let of_network = |network| self.clients.of_network(network).filter(may_go).max_by_key(silence);
        let goes = if self.clients.count_of(network) >= bounds.clients_of_peer {
            of_network(network)
        } else if self.clients.count() >= bounds.clients {
            of_network(self.clients.fullest_network().unwrap_or(network))
                .or_else(|| self.clients.iter().filter(may_go).max_by_key(silence))
        } else {
            return Ok(());
        };
        let goes = goes.ok_or(StateError::Delay)?.id;
        self.end_client(now, goes, ClientEnd::Expired, false);
        Ok(())
    }
}

fn answer(record: &ClientRecord) -> ExchangeAnswer {
    ExchangeAnswer { client: record.id, sequence: record.creation.next(), is_confirmed: record.is_confirmed }
}
