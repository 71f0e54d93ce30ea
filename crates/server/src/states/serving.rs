//! Addresses that move from one head of a cluster to another, and clients that move with them.

use std::io;
use std::net::IpAddr;
use std::time::Instant;

use howdah_state::StateError;

use super::head_log::HeadAddresses;
use super::head_records::calls;
use super::head_report::{HeadReport, SeenHead};
use super::lock_hosts::LockHost;
use super::states::States;

impl States {
    /// Whether this is a head of a cluster that shares its records with others.
    pub fn is_head(&self) -> bool {
        self.heads.is_some()
    }

    /// Clients call this address of ours. If it moves between heads, and another one had it, its clients may reclaim here what they had there, from now on.
    ///
    /// # Errors
    /// [`StateError::Delay`]: it is not known yet who they are.
    pub fn serve_address(&self, address: IpAddr) -> Result<(), StateError> {
        let Some(heads) = &self.heads else { return Ok(()) };
        let address = address.to_canonical();
        if heads.holds(address) || !heads.moves(address) {
            return Ok(());
        }
        let _turn = self.taking_over.lock();
        if heads.holds(address) {
            return Ok(());
        }
        self.take_over(heads, address).map_err(|error| {
            if let Some(left_out) = self.takeover_log.log(Instant::now()) {
                tracing::error!(%error, %address, left_out, "taking over the clients of an address: they wait");
            }
            StateError::Delay
        })
    }

    fn take_over(&self, heads: &HeadAddresses, address: IpAddr) -> io::Result<()> {
        let records = &heads.records;
        // Nothing is to be written, which may fail, where all is as it was when this head stopped.
        if records.claim(address)?.is_some_and(|claim| claim.head == records.head() && claim.from.is_none()) {
            heads.add(address);
            return Ok(());
        }
        let Some(before) = records.predecessor(address)? else {
            records.take(address, None)?;
            heads.add(address);
            return Ok(());
        };
        // What was open here before the other head served may be taken for newer than what that one wrote.
        self.let_go_files();
        // Noted first: a client that the other head records from now on is refused there.
        records.take(address, Some(&before))?;
        let taken = records.of(&before)?.to_take_over(address, |host| calls(host, address));
        let clients = taken.len();
        let (outcome, done) = self.run(|state, now| {
            state.take_over(now, taken);
            Ok(())
        });
        self.settle(done);
        outcome.map_err(|_| io::Error::other("the record of clients cannot be written"))?;
        records.take(address, None)?;
        heads.add(address);
        tracing::info!(%address, head = before, clients, "took over the clients of another head: they reclaim what they had");
        self.tell_hosts_of(address);
        Ok(())
    }

    fn let_go_files(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.let_go();
        }
    }

    /// Hosts get a notice of it, as of a restart.
    fn tell_hosts_of(&self, address: IpAddr) {
        let hosts = self.hosts_to_notify().into_iter().filter(|host| host.server == address);
        self.untold.lock().extend(hosts);
    }

    /// Hosts that had locks at a head whose address this one took over, and are to get a notice. Each is given once.
    pub fn untold_hosts(&self) -> Vec<LockHost> {
        std::mem::take(&mut *self.untold.lock())
    }

    /// The number of this head, if it is one of a cluster that shares its records.
    pub fn head(&self) -> Option<&str> {
        Some(self.heads.as_ref()?.records.head())
    }

    /// All heads of the cluster, as their records show them; none if this is no head that shares its records.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn seen_heads(&self) -> io::Result<Vec<SeenHead>> {
        self.heads.as_ref().map_or_else(|| Ok(Vec::new()), |heads| heads.records.seen())
    }

    /// Publishes what this head does, for viewers of the cluster.
    pub fn publish(&self, report: &HeadReport) {
        let Some(heads) = &self.heads else { return };
        // The look at addresses complains if nothing can be written there.
        let _ = heads.records.publish(report);
    }

    /// Looks whether other heads have taken addresses of this one: their clients have nothing here any more. Which ones.
    pub fn leave_lost_addresses(&self) -> Vec<IpAddr> {
        let Some(heads) = &self.heads else { return Vec::new() };
        let _turn = self.taking_over.lock();
        let lost = heads.lost().unwrap_or_else(|error| {
            if let Some(left_out) = self.lost_log.log(Instant::now()) {
                tracing::error!(%error, left_out, "cannot find out which addresses this head serves: no opens or locks are granted");
            }
            Vec::new()
        });
        if !lost.is_empty() {
            self.let_go_files();
        }
        for &address in &lost {
            tracing::warn!(%address, "another head serves this address now: its clients have no opens and locks here any more");
            let _ = self.ask(|state, now| {
                state.leave_server(now, address, |host| calls(host, address));
                Ok(())
            });
        }
        lost
    }
}
