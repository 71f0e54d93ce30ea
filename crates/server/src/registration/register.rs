//! Registering and taking it back: who may be replaced, and who may not.

use std::net::SocketAddr;
use std::time::Duration;

use howdah_net::is_listening;
use howdah_wire::portmap::{PORT, Protocol};
use howdah_wire::{nlm, nsm, rquota};

use super::conversation::{Conversation, Held};
use super::{OtherLocks, RegistrationError, Row};
use crate::Transport;

/// How long registering may take, and taking it back: rpcbind answers in microseconds, and a server that starts or stops
/// must not hang because something else does.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// How long a look may take whether a registered server runs: it would be on this host.
const LOOK: Duration = Duration::from_millis(100);

/// What is registered; taken back when it is dropped.
#[derive(Debug, Default)]
#[must_use = "dropped, the registration is taken back"]
pub struct Registration {
    rows: Vec<Row>,
    refused: Vec<Row>,
    other_locks: Option<OtherLocks>,
    other_quotas: Option<u16>,
}

/// What may be registered.
#[derive(Debug, PartialEq, Eq)]
struct Free {
    rows: Vec<Row>,
    other_locks: Option<OtherLocks>,
    other_quotas: Option<u16>,
}

/// Registers a server that listens here with this host's rpcbind. A server on the portmapper's own port is found without
/// that, and gets an empty registration. `quotas`: whether clients may ask for quotas.
///
/// # Errors
/// No rpcbind runs, another server is registered, or rpcbind does not want this one.
pub fn register(
    listeners: &[(Transport, SocketAddr)],
    quotas: bool,
) -> Result<Registration, RegistrationError> {
    let rows = Row::all(listeners, quotas);
    if rows.is_empty() || listeners.iter().any(|(_, address)| address.port() == PORT) {
        return Ok(Registration::default());
    }
    let mut rpcbind = Conversation::open(PATIENCE)?;
    let held = rpcbind.list()?;
    let Free { rows, other_locks, other_quotas } = free_rows(&held, &rows)?;
    let mut registration = Registration::default();
    (registration.other_locks, registration.other_quotas) = (other_locks, other_quotas);
    for row in rows {
        // A program that was here before did not take it back and is gone: killed, perhaps, as this server may have been.
        if held.iter().any(|held| held.is_place_of(&row)) {
            rpcbind.unset(&row)?;
        }
        let taken = rpcbind.set(&row)?;
        if taken { &mut registration.rows } else { &mut registration.refused }.push(row);
    }
    if registration.rows.is_empty() { Err(RegistrationError::Refused) } else { Ok(registration) }
}

impl Registration {
    /// What rpcbind took.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// What it did not take: usually networks that it does not serve.
    pub fn refused(&self) -> &[Row] {
        &self.refused
    }

    /// The lock manager or status monitor of this host that keeps its place: then no locks can be served.
    pub fn other_locks(&self) -> Option<&OtherLocks> {
        self.other_locks.as_ref()
    }

    /// The port of this host's own server of quotas, which keeps its place: clients ask that one.
    pub fn other_quotas(&self) -> Option<u16> {
        self.other_quotas
    }

    /// Registers once more what rpcbind does not know any more; how many rows that were.
    pub(super) fn renew(&self, rpcbind: &mut Conversation) -> Result<usize, RegistrationError> {
        let held = rpcbind.list()?;
        let is_there = |row: &Row| held.iter().any(|held| is_ours(held, row));
        if self.rows.iter().all(is_there) {
            return Ok(0);
        }
        let mut count = 0;
        for row in free_rows(&held, &self.rows)?.rows.iter().filter(|row| !is_there(row)) {
            if held.iter().any(|held| held.is_place_of(row)) {
                rpcbind.unset(row)?;
            }
            count += usize::from(rpcbind.set(row)?);
        }
        Ok(count)
    }

    /// Takes back what still is as it was registered here, and nothing that somebody else has registered since.
    ///
    /// # Errors
    /// rpcbind is gone, or does not answer.
    pub fn take_back(mut self) -> Result<(), RegistrationError> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), RegistrationError> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let mut rpcbind = Conversation::open(PATIENCE)?;
        let held = rpcbind.list()?;
        for row in rows {
            if held.iter().any(|held| is_ours(held, &row)) {
                rpcbind.unset(&row)?;
            }
        }
        Ok(())
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Err(error) = self.undo() {
            tracing::warn!(%error, "could not unregister from rpcbind; the entry remains");
        }
    }
}

fn is_ours(held: &Held, row: &Row) -> bool {
    held.is_place_of(row) && held.port == row.address.port()
}

/// The rows that may be registered. Another NFS server is not replaced: that is an error. A lock manager or status monitor of this
/// host keeps its place: its kernel has both as soon as it mounts NFSv3 itself. Then a status monitor of ours would monitor nothing,
/// and a lock manager of ours only refuse locks, as the kernel's does for our files. A server of quotas keeps its place, too.
fn free_rows(held: &[Held], rows: &[Row]) -> Result<Free, RegistrationError> {
    let of = |program| rows.iter().filter(move |row| row.program == program).copied().collect::<Vec<Row>>();
    let (mut locks, mut monitors, mut quotas) = (of(nlm::PROGRAM), of(nsm::PROGRAM), of(rquota::PROGRAM));
    let optional = [nlm::PROGRAM, nsm::PROGRAM, rquota::PROGRAM];
    let required = rows.iter().filter(|row| !optional.contains(&row.program));
    let required: Vec<Row> = required.copied().collect();
    if let Some(other) = other_server(held, &required) {
        let Held { program, port, owner, .. } = other.clone();
        return Err(RegistrationError::Taken { program, port, owner });
    }
    let [manager, monitor] = [&locks, &monitors].map(|rows| other_server(held, rows));
    let other = manager.or(monitor).map(|held| OtherLocks { program: held.program, port: held.port });
    if manager.is_some() {
        locks.clear();
    }
    if other.is_some() {
        monitors.clear();
    }
    let other_quotas = other_server(held, &quotas).map(|held| held.port);
    if other_quotas.is_some() {
        quotas.clear();
    }
    Ok(Free { rows: [required, locks, monitors, quotas].concat(), other_locks: other, other_quotas })
}

/// A registration of one of our programs that belongs to another server which runs. One on a port of ours was made by a
/// server before this one: the port is ours now.
fn other_server<'h>(held: &'h [Held], rows: &[Row]) -> Option<&'h Held> {
    let ours = |held: &Held| rows.iter().any(|row| row.address.port() == held.port);
    let others: Vec<&Held> = held
        .iter()
        .filter(|held| rows.iter().any(|row| row.program == held.program) && !ours(held))
        .collect();
    let runs = |held: &Held| match held.network.protocol() {
        Protocol::TCP => is_listening(held.address, held.port, LOOK),
        // Whether somebody reads datagrams cannot be seen from outside. A server that has no other way in is left alone;
        // one that has is judged by that.
        _ => !others
            .iter()
            .any(|other| other.program == held.program && other.network.protocol() == Protocol::TCP),
    };
    others.iter().copied().find(|held| runs(held))
}

#[cfg(test)]
mod tests {
    use super::*;
    use howdah_wire::rpcbind::Network;
    use std::net::TcpListener;

    fn held(network: Network, port: u16) -> Held {
        let (program, owner) = (howdah_wire::mount::PROGRAM, "superuser".into());
        Held { program, version: 3, network, port, address: None, owner }
    }

    #[test]
    fn a_server_that_runs_is_left_alone_and_one_that_is_gone_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("any port");
        let running = listener.local_addr().expect("bound").port();
        let gone = {
            let listener = TcpListener::bind("127.0.0.1:0").expect("any port");
            listener.local_addr().expect("bound").port()
        };
        let rows = Row::all(&[(Transport::Tcp, "127.0.0.1:1".parse().expect("an address"))], true);
        let other = |held: &[Held]| other_server(held, &rows).map(|held| (held.network, held.port));

        assert_eq!(other(&[]), None);
        assert_eq!(
            other(&[held(Network::Tcp, 1)]),
            None,
            "our own port, so left behind by a server before us"
        );
        assert_eq!(other(&[held(Network::Tcp, gone)]), None);
        assert_eq!(other(&[held(Network::Tcp, running)]), Some((Network::Tcp, running)));
        assert_eq!(other(&[held(Network::Udp, gone)]), Some((Network::Udp, gone)), "nobody can tell");
        assert_eq!(other(&[held(Network::Udp, 9), held(Network::Tcp, gone)]), None, "its TCP side is gone");

        let alone = TcpListener::bind("127.0.0.2:0").expect("any port").local_addr().expect("bound");
        let at = |address| Held { address: Some(address), ..held(Network::Tcp, alone.port()) };
        assert_eq!(other(&[at(alone.ip())]), None, "it has ended");
        let listener = TcpListener::bind(alone).expect("free again");
        assert_eq!(other(&[at(alone.ip())]), Some((Network::Tcp, alone.port())), "only at this address");
        let elsewhere = at("192.0.2.1".parse().expect("an address"));
        assert_eq!(other(&[elsewhere]), None, "no address of this host");
        drop(listener);

        let unrelated = Held { program: 100_020, ..held(Network::Tcp, running) };
        assert_eq!(other(&[unrelated]), None);
    }

    #[test]
    fn lock_managers_and_status_monitors_that_run_keep_their_places() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("any port");
        let running = listener.local_addr().expect("bound").port();
        let gone = {
            let listener = TcpListener::bind("127.0.0.1:0").expect("any port");
            listener.local_addr().expect("bound").port()
        };
        let rows = Row::all(&[(Transport::Tcp, "127.0.0.1:1".parse().expect("an address"))], true);
        let free = |program, port| {
            let free =
                free_rows(&[Held { program, ..held(Network::Tcp, port) }], &rows).expect("no NFS server");
            let has = |program| free.rows.iter().any(|row| row.program == program);
            (has(nlm::PROGRAM), has(nsm::PROGRAM), free.other_locks.map(|other| other.program))
        };
        assert_eq!(free(nlm::PROGRAM, gone), (true, true, None));
        assert_eq!(free(nsm::PROGRAM, gone), (true, true, None));
        assert_eq!(free(nlm::PROGRAM, running), (false, false, Some(nlm::PROGRAM)));
        assert_eq!(free(nsm::PROGRAM, running), (true, false, Some(nsm::PROGRAM)), "locks are refused");
        let quotas = |port| {
            let held = Held { program: rquota::PROGRAM, ..held(Network::Tcp, port) };
            let free = free_rows(&[held], &rows).expect("no NFS server");
            (free.rows.iter().any(|row| row.program == rquota::PROGRAM), free.other_quotas)
        };
        assert_eq!((quotas(gone), quotas(running)), ((true, None), (false, Some(running))));
    }
}
