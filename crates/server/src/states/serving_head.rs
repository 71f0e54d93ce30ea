//! A head of a cluster that shares its records with the others: which addresses it serves, and whose clients it takes over with them.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use howdah_state::DurableRecord;

use super::head_log::HeadAddresses;
use super::head_records::calls;
use super::head_report::{HeadReport, SeenHead};
use super::lock_hosts::LockHost;
use crate::locks::Mutex;
use crate::seldom::Seldom;

/// This head of a cluster.
pub struct ServingHead {
    /// The name of all heads together (RFC 8881 2.10.4): clients reclaim at one what they had at another.
    scope: [u8; 16],
    addresses: Arc<HeadAddresses>,
    /// Held while an address is taken over, or left.
    turn: Mutex<()>,
    takeover_log: Seldom,
    lost_log: Seldom,
    /// Hosts of addresses that were taken over, which are to get a notice.
    untold: Mutex<Vec<LockHost>>,
}

impl ServingHead {
    /// It serves none of these addresses yet.
    pub fn new(scope: [u8; 16], addresses: Arc<HeadAddresses>) -> Self {
        let (takeover_log, lost_log) = (Seldom::each_minute(), Seldom::each_minute());
        Self { scope, addresses, turn: Mutex::default(), takeover_log, lost_log, untold: Mutex::default() }
    }

    /// The name that this server has in common with those at which its clients may reclaim.
    pub fn scope(&self) -> [u8; 16] {
        self.scope
    }

    /// The number of this head.
    pub fn name(&self) -> &str {
        self.addresses.records.head()
    }

    /// All heads of the cluster, as their records show them.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn seen_heads(&self) -> io::Result<Vec<SeenHead>> {
        self.addresses.records.seen()
    }

    /// Publishes what this head does, for viewers of the cluster.
    pub fn publish(&self, report: &HeadReport) {
        // The look at addresses complains if nothing can be written there.
        let _ = self.addresses.records.publish(report);
    }

    /// Hosts that had locks at a head whose address this one took over, and are to get a notice. Each is given once.
    pub fn untold_hosts(&self) -> Vec<LockHost> {
        std::mem::take(&mut *self.untold.lock())
    }

    /// These are to get a notice, as of a restart.
    pub(super) fn add_untold(&self, hosts: impl Iterator<Item = LockHost>) {
        self.untold.lock().extend(hosts);
    }

    /// Clients call this address of ours. If it moves between heads, and another one had it, `take` is given what its clients may
    /// reclaim, after `let_go` of what was open here before the other head served: it may be taken for newer than what that one wrote.
    /// Whether there are such clients now.
    ///
    /// # Errors
    /// It is not known yet who they are.
    pub(super) fn serve(
        &self,
        address: IpAddr,
        let_go: impl FnOnce(),
        take: impl FnOnce(Vec<DurableRecord>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let is_served = || self.addresses.holds(address) || !self.addresses.moves(address);
        if is_served() {
            return Ok(false);
        }
        let _turn = self.turn.lock();
        if is_served() {
            return Ok(false);
        }
        self.take_over(address, let_go, take).inspect_err(|error| {
            if let Some(left_out) = self.takeover_log.log(Instant::now()) {
                tracing::error!(%error, %address, left_out, "taking over the clients of an address: they wait");
            }
        })
    }

    fn take_over(
        &self,
        address: IpAddr,
        let_go: impl FnOnce(),
        take: impl FnOnce(Vec<DurableRecord>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let records = &self.addresses.records;
        // Nothing is to be written, which may fail, where all is as it was when this head stopped.
        if records.claim(address)?.is_some_and(|claim| claim.head == records.head() && claim.from.is_none()) {
            self.addresses.add(address);
            return Ok(false);
        }
        let (before, mut clients) = (records.predecessor(address)?, 0);
        if let Some(before) = &before {
            let_go();
            // Noted first: a client that the other head records from now on is refused there.
            records.take(address, Some(before))?;
            let taken = records.of(before)?.to_take_over(address, |host| calls(host, address));
            clients = taken.len();
            take(taken)?;
        }
        records.take(address, None)?;
        self.addresses.add(address);
        if let Some(head) = &before {
            tracing::info!(%address, head, clients, "took over the clients of another head: they reclaim what they had");
        }
        Ok(before.is_some())
    }

    /// Other heads have taken addresses of this one: it must `leave` them, whose clients have nothing here any more. Which ones.
    pub(super) fn leave_lost(&self, leave: impl FnOnce(&[IpAddr])) -> Vec<IpAddr> {
        let _turn = self.turn.lock();
        let lost = self.addresses.lost().unwrap_or_else(|error| {
            if let Some(left_out) = self.lost_log.log(Instant::now()) {
                tracing::error!(%error, left_out, "cannot find out which addresses this head serves: no opens or locks are granted");
            }
            Vec::new()
        });
        leave(&lost);
        lost
    }
}
