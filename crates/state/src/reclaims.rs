//! Who may get something now, and who may reclaim it after a restart (RFC 8881 8.4.2): grace, and the durable log.

use std::time::Duration;

use crate::clients::ClientRecord;
use crate::effects::{DurableRecord, Effect};
use crate::error::StateError;
use crate::grace::Grace;
use crate::hosts::HostRecord;
use crate::journal::Journal;
use crate::records::RecoveryRecords;

/// Grace, and the durable log.
#[derive(Debug)]
pub struct Reclaims<K> {
    grace: Grace,
    /// What is to be done outside.
    pub journal: Journal<K>,
}

impl<K> Reclaims<K> {
    /// At the start of the server, with what was read of earlier runs.
    pub fn new((epoch, grace): (u32, Duration), records: RecoveryRecords) -> Self {
        let mut journal = Journal::new(records);
        journal.write(DurableRecord::Start { epoch });
        journal.rest_on_all();
        Self { grace: Grace::new(grace, journal.records()), journal }
    }

    /// Whether only reclaims are granted.
    pub fn is_grace(&self) -> bool {
        self.grace.is_on()
    }

    /// What the log comes to once all effects are durable.
    pub fn records(&self) -> &RecoveryRecords {
        self.journal.records()
    }

    /// Whether a client may get something now.
    pub fn admit_client(&self, client: Option<&ClientRecord>, is_reclaim: bool) -> Result<(), StateError> {
        let client = client.ok_or(StateError::Expired)?;
        match is_reclaim {
            true if !self.is_grace() || client.is_complete => Err(StateError::NoGrace),
            true if !self.records().was_client(&client.owner, &client.principal) => {
                Err(StateError::ReclaimBad)
            }
            false if self.is_grace() || !client.is_complete => Err(StateError::Grace),
            _ => Ok(()),
        }
    }

    /// Whether a host may get something now.
    pub fn admit_host(&self, host: Option<&HostRecord>, is_reclaim: bool) -> Result<(), StateError> {
        let host = host.ok_or(StateError::NoSpace)?;
        match is_reclaim {
            true if !self.is_grace() => Err(StateError::NoGrace),
            true if !self.records().was_host(&host.name) => Err(StateError::ReclaimBad),
            false if self.is_grace() => Err(StateError::Grace),
            _ => Ok(()),
        }
    }

    /// A client was granted something: it rests on the records so far, its own among them.
    pub fn granted_to_client(&mut self, now: Duration, client: Option<&ClientRecord>, is_reclaim: bool) {
        if is_reclaim {
            self.grace.reclaimed(now);
        }
        client.iter().for_each(|client| self.record_client(client));
        self.journal.rest_on(client.map(|client| &*client.owner));
    }

    /// A host was granted something.
    pub fn granted_to_host(&mut self, now: Duration, host: Option<&HostRecord>, is_reclaim: bool) {
        if is_reclaim {
            self.grace.reclaimed(now);
        }
        if let Some(HostRecord { name: host, .. }) = host
            && !self.records().is_host(host)
        {
            self.journal.write(DurableRecord::AddHost { host: host.clone() });
        }
        self.journal.rest_on(host.map(|host| &*host.name));
    }

    fn record_client(&mut self, client: &ClientRecord) {
        if !self.records().is_client(&client.owner) {
            let (owner, principal) = (client.owner.clone(), client.principal.clone());
            let server = Some(client.server);
            self.journal.write(DurableRecord::AddClient { owner, principal, server });
        }
    }

    /// A client reclaims nothing more. Whether grace ends with it.
    pub fn complete(&mut self, now: Duration, client: &ClientRecord) -> bool {
        if self.records().was_client(&client.owner, &client.principal) {
            self.grace.complete(&client.owner);
        }
        self.record_client(client);
        let ends = self.end_grace(now);
        self.journal.rest_on(Some(&client.owner));
        ends
    }

    /// Ends grace if it is time to: those who did not come back are forgotten. Whether it ends now.
    pub fn end_grace(&mut self, now: Duration) -> bool {
        let ends = self.grace.ends(now);
        if ends {
            self.journal.write(DurableRecord::EndGrace);
        }
        ends
    }

    /// A client has nothing any more and reclaims nothing, which it may have said `by_itself`.
    pub fn forget_client(&mut self, client: &ClientRecord, by_itself: bool) {
        let ClientRecord { owner, principal, .. } = client;
        if self.records().knows_client(owner, principal) {
            if self.records().was_client(owner, principal) {
                self.grace.complete(owner);
            }
            let (owner, principal) = (owner.clone(), principal.clone());
            self.journal.write(DurableRecord::RemoveClient { owner, principal, by_itself });
        }
    }

    /// A host has nothing any more.
    pub fn forget_host(&mut self, host: HostRecord) {
        if self.records().knows_host(&host.name) {
            self.journal.write(DurableRecord::RemoveHost { host: host.name });
        }
    }

    /// Clients and hosts of another server may reclaim here what they had there. Those of which `is_complete` holds are here already, and
    /// do not complete again.
    pub fn take_over(
        &mut self,
        until: (Duration, Duration),
        taken: Vec<DurableRecord>,
        is_complete: impl Fn(&[u8]) -> bool,
    ) {
        let (mut clients, mut has_hosts) = (Vec::new(), false);
        for record in taken {
            match &record {
                DurableRecord::TakeClient { owner, .. } if !is_complete(owner) => clients.push(owner.clone()),
                DurableRecord::TakeHost { .. } => has_hosts = true,
                _ => {}
            }
            self.journal.write(record);
        }
        self.grace.extend(until, clients, has_hosts);
        self.journal.rest_on_all();
    }

    /// What is to be done outside, in this order.
    pub fn effects(&mut self) -> &mut Vec<Effect<K>> {
        self.journal.effects()
    }
}
