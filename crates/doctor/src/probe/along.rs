//! Up the ladder along the path to a server: each rung is looked at alone, and one that cannot be is told.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result};
use howdah_client::channel::Patience;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::nfs3::Nfs3;
use howdah_client::url::NfsUrl;
use howdah_lab::workload::{Place, PlaceKind};
use howdah_net::Echo;
use howdah_vfs::{Caller, FileSystem, Handle, Name};

use super::{echoes, file, host, interfaces, longest, mounts, moving, null_calls, small_calls};
use crate::Rung;
use crate::facts::{Facts, NfsFacts, PathFacts, TooLarge};

/// How long a server may take to answer a call until that counts as no answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Small packets that are sent, and how far apart: what 10 Mb/s carry ten times.
const PACKETS: u16 = 1000;
const APART: Duration = Duration::from_millis(1);
/// And once more, if some did not come back.
const FEW_PACKETS: u16 = 100;
const FAR_APART: Duration = Duration::from_millis(10);

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
    /// Set when a person asks to stop.
    pub stop: &'a AtomicBool,
    /// Told what is looked at now.
    pub tell: &'a dyn Fn(&str),
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
    packets(&mut path, server);
    let round_trip = Duration::from_secs_f64(path.round_trip.unwrap_or(0.1));
    (asked.tell)("asking for the export");
    let client = match open(asked.url) {
        Ok(client) => client,
        Err(why) => {
            let why = format!("{why:#}");
            facts.path = Some(path);
            facts.missing = vec![(Rung::Storage, why.clone()), (Rung::Nfs, why)];
            return Ok(facts);
        }
    };
    (asked.tell)("the path: what it carries");
    carries(&mut path, &client);
    let is_black_hole =
        path.mtu.as_ref().is_some_and(|mtu| mtu.too_large == TooLarge::Vanishes) && path.there.is_none();
    facts.path = Some(path);
    if is_black_hole {
        let why = "long packets vanish on the path: that comes first".to_owned();
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

fn open(url: &NfsUrl) -> Result<Arc<Nfs3>> {
    let mut options = ConnectOptions { patience: PATIENCE, ..ConnectOptions::default() };
    options.channel.patience = Patience::Soft(PATIENCE);
    Ok(connect(url, &options)?)
}

/// Round trip, loss, overtaking, and the longest packet.
fn packets(path: &mut PathFacts, server: SocketAddr) {
    let echo = match Echo::open(server) {
        Ok(echo) => echo,
        Err(why) => {
            path.could_not.push(format!(
                "losses and the longest packet: this user may send no echoes ({why}); root may, or whom net.ipv4.ping_group_range names"
            ));
            return;
        }
    };
    let first = std::process::id() as u16;
    match echoes::train(&echo, first, PACKETS, APART) {
        Ok(train) if train.came == 0 => {
            path.could_not
                .push("losses and the longest packet: the host answers no echoes (ICMP)".to_owned());
            return;
        }
        Ok(train) => {
            path.round_trip = train.least;
            let is_whole = train.came == train.sent;
            path.train = Some(train);
            if !is_whole {
                path.slow_train =
                    echoes::train(&echo, first.wrapping_add(PACKETS), FEW_PACKETS, FAR_APART).ok();
            }
        }
        Err(why) => {
            path.could_not.push(format!("losses and the longest packet: {why}"));
            return;
        }
    }
    if path.is_local {
        return;
    }
    let round_trip = Duration::from_secs_f64(path.round_trip.unwrap_or_default());
    match longest::longest(&echo, howdah_net::path_mtu(server), round_trip) {
        Ok(mtu) => path.mtu = Some(mtu),
        Err(why) => path.could_not.push(format!("the longest packet: {why}")),
    }
}

/// What goes there; what comes back only another doctor, or a file, can tell.
fn carries(path: &mut PathFacts, client: &Nfs3) {
    let Some(lane) = client.channel().report().lanes.first().copied() else { return };
    match null_calls::rate_there(lane.server) {
        Ok(rate) => path.there = rate,
        Err(why) => path.could_not.push(format!("what it carries to the server: {why}")),
    }
    if path.round_trip.is_none() {
        path.round_trip = lane.round_trip.map(|trip| trip.as_secs_f64());
    }
}

/// Storage and NFS.
fn upper(facts: &mut Facts, asked: &Asked<'_>, client: &Arc<Nfs3>, round_trip: Duration) {
    let caller = asked.url.caller(ConnectOptions::default().caller);
    (asked.tell)("storage: small calls");
    let node = match walk(client, &caller) {
        Ok(node) => node,
        Err(why) => {
            let why = format!("{why:#}");
            facts.missing = vec![(Rung::Storage, why.clone()), (Rung::Nfs, why)];
            return;
        }
    };
    let file = file::largest(client.as_ref(), &caller, &node);
    match small_calls::small_calls(client, &caller, &node, file) {
        Ok(seen) => facts.storage = Some(seen),
        Err(why) => facts.missing.push((Rung::Storage, format!("{why:#}"))),
    }
    (asked.tell)("NFS: what it moves");
    let sizes = client.sizes();
    let mut nfs = NfsFacts {
        read_size: u64::from(sizes.read),
        write_size: u64::from(sizes.write),
        ..NfsFacts::default()
    };
    if asked.may_write {
        let place = Place {
            name: asked.typed.to_owned(),
            kind: PlaceKind::Nfs,
            file_system: Arc::clone(client) as Arc<dyn FileSystem>,
            caller,
            directory: node,
            counters: None,
        };
        let rate = facts.path.as_ref().and_then(|path| Some(path.there.as_ref()?.bytes_per_second));
        match moving::writes_and_reads(client, place, round_trip, rate, asked.stop) {
            Ok((writes, reads)) => (nfs.writes, nfs.reads) = (Some(writes), Some(reads)),
            Err(why) => nfs.could_not.push(format!("writes and reads: {why:#}")),
        }
    } else {
        nfs.could_not.push("writes: nothing is written unless --write allows it".to_owned());
        match file.context("there is no file to read; --write makes one, and removes it") {
            Ok(file) => match moving::reads(client, &caller, file, round_trip) {
                Ok(reads) => nfs.reads = Some(reads),
                Err(why) => nfs.could_not.push(format!("reads: {why:#}")),
            },
            Err(why) => nfs.could_not.push(format!("reads: {why}")),
        }
    }
    facts.nfs = Some(nfs);
}

/// The node that the URL names, below what was mounted.
fn walk(client: &Nfs3, caller: &Caller) -> Result<Handle> {
    client.below_root().iter().try_fold(client.root(), |directory, name| {
        let name = Name::parse(name).map_err(|error| error.refusal())?;
        Ok(client.lookup(caller, &directory, name)?.node.handle)
    })
}
