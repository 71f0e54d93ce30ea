//! Up the ladder along the path to a server: each rung is looked at alone, and one that cannot be is reported.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use howdah_client::Remote;
use howdah_client::channel::{Patience, TlsReport};
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::gss::TicketSource;
use howdah_client::url::NfsUrl;
use howdah_vfs::{Caller, FileSystem, Handle, Name, Shown};
use howdah_workload::{Place, PlaceKind};

use super::granted::granted;
use super::{file, host, interfaces, mounts, moving, null_calls, packets, small_calls};
use crate::Rung;
use crate::facts::{Facts, NfsFacts, OwnCertificateFacts, PathFacts, ServerTlsFacts, TooLargePacket};
use crate::judge::{nfs_is_low, path_is_low};
use crate::peer::Peer;

/// How long a server may take to answer a call until that counts as no answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be looked at.
pub struct Asked<'a> {
    /// The server.
    pub url: &'a NfsUrl,
    /// As it was typed.
    pub typed: &'a str,
    /// Whether something may be written there, in a directory of its own that is removed.
    pub may_write: bool,
    /// What the path should carry, in bits per second.
    pub expected_bits_per_second: Option<f64>,
    /// Where a doctor may listen at the server's end.
    pub peer_port: u16,
    /// Set when a person asks to stop.
    pub stop: &'a AtomicBool,
    /// Called with what is looked at now.
    pub tell: &'a dyn Fn(&str),
    /// Who has Kerberos tickets, for URLs that ask for them.
    pub tickets: Arc<dyn TicketSource>,
}

/// Looks at everything between this host and a server.
///
/// # Errors
/// The host has no address, or the kernel does not list interfaces. All else is among the facts.
pub fn along(asked: &Asked<'_>) -> Result<Facts> {
    let server = resolve(asked.url)?;
    let own = howdah_net::own_address(server).with_context(|| format!("looking for a way to {server}"))?;
    let mut facts = Facts {
        target: Some(asked.typed.to_owned()),
        host: host(),
        interfaces: interfaces(Some(own)).context("listing network interfaces")?,
        mounts: mounts(),
        expected_bits_per_second: asked.expected_bits_per_second,
        ..Facts::default()
    };
    let mut path =
        PathFacts { address: server.ip().to_string(), is_local: server.ip() == own, ..PathFacts::default() };
    (asked.tell)("the path: small packets, then long ones");
    let at = SocketAddr::new(server.ip(), asked.peer_port);
    let peer = Peer::find(at).ok().map(|(peer, peer_facts)| {
        facts.other_host = Some(peer_facts);
        peer
    });
    packets::packets(&mut path, server, peer.as_ref());
    let round_trip = Duration::from_secs_f64(path.round_trip.unwrap_or(0.1));
    (asked.tell)("asking for the export");
    let client = match open(asked) {
        Ok(client) => client,
        Err(why) => {
            let why = format!("{why:#}");
            if !path.is_measured() {
                // Where nothing comes back, this says why.
                path.could_not = vec![why.clone()];
            }
            facts.path = Some(path);
            facts.missing = vec![(Rung::Storage, why.clone()), (Rung::Nfs, why)];
            return Ok(facts);
        }
    };
    (asked.tell)("the path: throughput");
    carries(&mut path, &*client, peer.as_ref());
    if path_is_low(&path, &facts.interfaces, asked.expected_bits_per_second) {
        (asked.tell)("the path: throughput, once more");
        let mut again = PathFacts { round_trip: path.round_trip, ..PathFacts::default() };
        carries(&mut again, &*client, peer.as_ref());
        path.once_more(again.there, again.back);
    }
    let vanishes = path.mtu.as_ref().is_some_and(|mtu| mtu.too_large == TooLargePacket::Vanishes);
    let is_black_hole = vanishes && (path.there.is_none() || peer.is_some() && path.back.is_none());
    facts.path = Some(path);
    if is_black_hole {
        let why = "large packets are lost on the path: fix that first".to_owned();
        facts.missing = vec![(Rung::Storage, why.clone()), (Rung::Nfs, why)];
        return Ok(facts);
    }
    upper(&mut facts, asked, &client, round_trip);
    Ok(facts)
}

fn resolve(url: &NfsUrl) -> Result<SocketAddr> {
    let name = url.host.trim_start_matches('[').trim_end_matches(']');
    let port = url.options.nfs_port.or(url.port).unwrap_or(2049);
    let mut addresses = (name, port).to_socket_addrs().with_context(|| format!("looking up {name}"))?;
    addresses.next().with_context(|| format!("{name} has no address"))
}

fn open(asked: &Asked<'_>) -> Result<Arc<dyn Remote>> {
    let mut options = ConnectOptions { patience: PATIENCE, ..ConnectOptions::default() };
    options.channel.patience = Patience::Soft(PATIENCE);
    options.tickets = Some(Arc::clone(&asked.tickets));
    Ok(connect(asked.url, &options)?)
}

/// What goes there, and with a doctor at the other end what comes back.
fn carries(path: &mut PathFacts, client: &dyn Remote, peer: Option<&Peer>) {
    let Some(lane) = client.channel().report().lanes.first().copied() else { return };
    if path.round_trip.is_none() {
        path.round_trip = lane.round_trip.map(|trip| trip.as_secs_f64());
    }
    let round_trip = Duration::from_secs_f64(path.round_trip.unwrap_or_default());
    let there = match peer {
        Some(peer) => peer.there(round_trip),
        None => null_calls::rate_there(lane.server, round_trip),
    };
    match there {
        Ok(rate) => path.there = rate,
        Err(why) => path.could_not.push(format!("throughput to the server: {why}")),
    }
    match peer.map(|peer| peer.back(round_trip)) {
        Some(Ok(rate)) => path.back = rate,
        Some(Err(why)) => path.could_not.push(format!("throughput from the server: {why}")),
        None => path.could_not.push(
            "throughput from the server: to measure it, run `howdah doctor --listen` there; the other direction stands for both".to_owned(),
        ),
    }
}

/// Storage and NFS.
fn upper(facts: &mut Facts, asked: &Asked<'_>, client: &Arc<dyn Remote>, round_trip: Duration) {
    let caller = asked.url.caller(ConnectOptions::default().caller);
    (asked.tell)("storage: small calls");
    let node = match walk(&**client, &caller) {
        Ok(node) => node,
        Err(why) => {
            let why = format!("{why:#}");
            facts.missing = vec![(Rung::Storage, why.clone()), (Rung::Nfs, why)];
            return;
        }
    };
    let file = file::largest(client.as_ref(), &caller, &node);
    match small_calls::small_calls(&**client, &caller, &node, file) {
        Ok(seen) => facts.storage = Some(seen),
        Err(why) => facts.missing.push((Rung::Storage, format!("{why:#}"))),
    }
    (asked.tell)("NFS: throughput");
    let rate = facts.path.as_ref().and_then(|path| Some(path.there.as_ref()?.bytes_per_second));
    let moving = Moving { asked, client, caller, node, file, round_trip, rate };
    let measured = moving.measure();
    let session = granted(&**client, &moving.caller, file.as_ref().map(|file| &file.handle));
    facts.nfs = Some(NfsFacts { tls: tls(&**client), session, ..measured });
    if nfs_is_low(facts) {
        (asked.tell)("NFS: throughput, once more");
        let again = moving.measure();
        facts.nfs.get_or_insert_default().once_more(again);
    }
}

/// What protects the calls.
fn tls(client: &dyn Remote) -> Option<ServerTlsFacts> {
    let TlsReport { suite, certificate, own } = client.channel().report().tls?;
    let certificate = certificate?;
    let (now, seconds) = (SystemTime::now(), |left: Option<Duration>| left.unwrap_or_default().as_secs());
    Some(ServerTlsFacts {
        suite: suite.to_owned(),
        records: "user space".to_owned(),
        certificate: certificate.name().to_owned(),
        seconds_left: seconds(certificate.left(now)),
        own: own.map(|own| OwnCertificateFacts {
            name: own.name().to_owned(),
            seconds_left: seconds(own.left(now)),
        }),
    })
}

/// What NFS moves is measured by this.
struct Moving<'a> {
    asked: &'a Asked<'a>,
    client: &'a Arc<dyn Remote>,
    caller: Caller,
    node: Handle,
    /// The largest file that was found.
    file: Option<file::ProbedFile>,
    round_trip: Duration,
    /// What the path is known to carry to the server, in bytes per second.
    rate: Option<f64>,
}

impl Moving<'_> {
    fn measure(&self) -> NfsFacts {
        let sizes = self.client.sizes();
        let (read_size, write_size) = (u64::from(sizes.read), u64::from(sizes.write));
        let mut nfs = NfsFacts { read_size, write_size, ..NfsFacts::default() };
        if self.asked.may_write {
            match moving::writes_and_reads(
                &**self.client,
                self.place(),
                self.round_trip,
                self.rate,
                self.asked.stop,
            ) {
                Ok((writes, reads)) => (nfs.writes, nfs.reads) = (Some(writes), Some(reads)),
                Err(why) => nfs.could_not.push(format!("writes and reads: {why:#}")),
            }
            return nfs;
        }
        nfs.could_not.push("writes: only measured with --write".to_owned());
        match self.file.context("there is no file to read; --write creates one, and removes it") {
            Ok(file) => match moving::reads(&**self.client, &self.caller, file, self.round_trip, self.rate) {
                Ok(reads) => nfs.reads = Some(reads),
                Err(why) => nfs.could_not.push(format!("reads: {why:#}")),
            },
            Err(why) => nfs.could_not.push(format!("reads: {why}")),
        }
        nfs
    }

    fn place(&self) -> Place {
        Place {
            name: self.asked.typed.to_owned(),
            kind: PlaceKind::Nfs,
            file_system: Arc::clone(self.client) as Arc<dyn FileSystem>,
            caller: self.caller.clone(),
            directory: self.node,
            counters: None,
        }
    }
}

/// The node that the URL names, below what was mounted.
fn walk(client: &dyn Remote, caller: &Caller) -> Result<Handle> {
    client.below_root().iter().try_fold(client.root(), |directory, part| {
        let name = Name::parse(part).map_err(|error| error.refusal())?;
        let found = client.lookup(caller, &directory, name);
        Ok(found.with_context(|| format!("finding {}", Shown(part)))?.node.handle)
    })
}
