//! Notifies clients that had locks that this server restarted, so that they reclaim them (NSM NOTIFY), until they answer.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use howdah_wire::nsm::notify::{Arguments, PROCEDURE};
use howdah_wire::nsm::{MonitorName, PROGRAM, VERSION};
use howdah_wire::xdr::Encoder;

use crate::Transport;
use crate::limits::{NOTICE_PATIENCE, NOTICE_THREADS, NOTICES_MAX};
use crate::outgoing::{CallFailure, Called, ClientPorts, DueQueue, QueueBounds, call};
use crate::states::LockHost;

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// After how long a client that did not answer gets the notice again, at first and at most.
const AGAIN: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(60)];

/// A client that is to get a notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Which.
    pub host: LockHost,
    /// Since when notices are sent to it.
    since: Instant,
    /// When it gets the next notice if it does not answer.
    again: Duration,
}

/// The clients that are to get a notice.
#[derive(Debug)]
pub struct Notices {
    queue: DueQueue<Notice>,
    ports: ClientPorts,
    number: u32,
}

impl Notices {
    /// None yet. `number`: the state number of this host now. Clients' portmappers listen on this port.
    pub fn new(number: u32, portmapper: u16) -> Self {
        let bounds = QueueBounds { jobs: NOTICES_MAX, jobs_of_peer: NOTICES_MAX, at_once: usize::MAX };
        Self { queue: DueQueue::new(bounds), ports: ClientPorts::new(portmapper), number }
    }

    /// Notifies these.
    pub fn tell(&self, hosts: Vec<LockHost>) {
        let now = Instant::now();
        let count = hosts.len();
        let untold = hosts
            .into_iter()
            .filter(|host| {
                let notice = Notice { host: host.clone(), since: now, again: AGAIN[0] };
                self.queue.put(host.client, now, notice).is_err()
            })
            .count();
        if count > 0 {
            tracing::info!(
                clients = count - untold,
                "notifying NFSv3 clients that had locks: they reclaim them (NSM)"
            );
        }
        if untold > 0 {
            tracing::warn!(
                clients = untold,
                "too many clients had locks: these are not notified, and cannot reclaim them"
            );
        }
    }

    /// How many threads notify so many clients, so that clients that are off do not delay others past the lease.
    pub fn threads_for(clients: usize) -> usize {
        let [fewest, most] = NOTICE_THREADS;
        clients.clamp(fewest, most)
    }

    /// Notifies clients until the queue ends: what a thread does.
    pub fn run(&self) {
        while let Some(notice) = self.queue.take() {
            self.notify(notice.clone());
        }
    }

    /// Ends the queue.
    pub fn end(&self) {
        self.queue.end();
    }

    /// The next one that is to get a notice.
    #[cfg(test)]
    pub fn pop(&self) -> Option<Notice> {
        self.queue.pop()
    }

    fn notify(&self, mut notice: Notice) {
        let client = notice.host.client;
        let Err(failure) = self.call(&notice.host) else {
            tracing::debug!(%client, "a client was notified of the restart");
            return;
        };
        if notice.since.elapsed() + notice.again > NOTICE_PATIENCE {
            tracing::warn!(%client, %failure, "a client that had locks was not notified of the restart: it reclaims none");
            return;
        }
        tracing::debug!(%client, %failure, "telling a client of the restart");
        let due = Instant::now() + notice.again;
        notice.again = (notice.again * 2).min(AGAIN[1]);
        // A server that ends sends no more notices.
        let _ = self.queue.put(client, due, notice);
    }

    fn call(&self, host: &LockHost) -> Result<(), CallFailure> {
        match self.call_from(Some(host.server), host) {
            // The name will do where the client knows it.
            Err(failure) if failure.has_lost_address() => self.call_from(None, host),
            outcome => outcome,
        }
    }

    /// Calls once with each name that the client may know us by; an answer does not say whether it did.
    fn call_from(&self, from: Option<IpAddr>, host: &LockHost) -> Result<(), CallFailure> {
        let called = Called { program: PROGRAM, version: VERSION, procedure: PROCEDURE };
        self.ports.call(from, host.client, (PROGRAM, VERSION), Transport::Udp, |route| {
            names(host.server).iter().try_for_each(|name| {
                let arguments = Arguments { name: MonitorName(name.as_bytes()), state: self.number };
                call(route, called, &Encoder::to_vec(&arguments), PATIENCE).map(drop)
            })
        })
    }
}

/// The names that a client may know us by: our address, our name, and our name without its domain.
pub fn names(server: IpAddr) -> Vec<String> {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy();
    let short = name.split('.').next().unwrap_or_default();
    let mut names = vec![server.to_string(), name.to_string(), short.to_owned()];
    names.retain(|name| !name.is_empty());
    names.dedup();
    names
}
