//! The path from the server's root to the directory that a URL names: all of it in one compound, if the server takes as many operations.

use howdah_vfs::{Caller, FileKind, Handle, Node, Shown};
use howdah_wire::nfs4::attributes::{FS_LOCATIONS, Locations};
use howdah_wire::nfs4::{
    Bitmap, Opaque, Status, getattr, getfh, lookup, putfh, putrootfh, reclaim_complete, sequence,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::change::{LOOK, get};
use super::client::Walked;
use super::compound::Compound;
use super::convert::{attributes, values};
use super::error::{EstablishError, EstablishStep};
use super::exchange::CompoundCalls;
use super::handles::Handles;
use super::operation::Operation;
use super::results::{ResultReader, Stopped};
use super::server_facts::{ServerFacts, WANTED};
use crate::channel::Class;
use crate::url::join;

/// Operations of a name: LOOKUP, GETFH, GETATTR.
const OF_NAME: usize = 3;
/// Operations besides: SEQUENCE, RECLAIM_COMPLETE, the node at the start and what the server says there, and what it says at the end.
const BESIDE: usize = 7;

/// So many places of a file system that is elsewhere are named.
const PLACES_MAX: usize = 4;

type Walk<T> = Result<T, EstablishError>;

/// Walks a path. Says that nothing is to be reclaimed, too: a client that was never there before has nothing (RFC 8881 18.51).
pub(super) fn walk(calls: &CompoundCalls, caller: &Caller, path: &[Vec<u8>]) -> Walk<Walked> {
    match walk_here(calls, caller, path) {
        Err(EstablishError::Refused(step, Status::MOVED)) => {
            Err(EstablishError::Moved(step, places(calls, caller, Operation::PutRoot, path)))
        }
        walked => walked,
    }
}

fn walk_here(calls: &CompoundCalls, caller: &Caller, path: &[Vec<u8>]) -> Walk<Walked> {
    let most = (calls.session.sizes().operations as usize).saturating_sub(BESIDE) / OF_NAME;
    let (first, _) = path.split_at(most.max(1).min(path.len()));
    let mut walked = match steps(calls, caller, (None, first), true)? {
        Some(walked) => walked,
        // The server wants it alone. Whether it takes it shows when something is to be reclaimed, which is never.
        None => {
            let alone = [Operation::ReclaimComplete];
            let alone = Compound::new("RECLAIM_COMPLETE", Class::Attributes, &alone);
            let reply = calls.call(caller, &Compound { is_upkeep: true, ..alone });
            let reply = reply.map_err(|error| EstablishError::Root(EstablishStep::Session, error))?;
            match reply.read() {
                Ok(_) => calls.session.on_complete(),
                Err(_) => calls.session.on_lost(),
            }
            let walked = steps(calls, caller, (None, first), false)?;
            walked.ok_or_else(|| EstablishError::Malformed(step(first)))?
        }
    };
    while walked.first_below.is_none() && walked.depth < path.len() {
        let names = &path[walked.depth..];
        let names = &names[..names.len().min(most.max(1))];
        let depth = walked.depth;
        let next = steps(calls, caller, (Some(walked.root.handle), names), false)?;
        walked = next.ok_or_else(|| EstablishError::Malformed(step(names)))?;
        walked.depth += depth;
    }
    walked.below = path[walked.depth..].to_vec();
    Ok(walked)
}

/// Walks names from a directory on, or from the server's root. None if the server does not take RECLAIM_COMPLETE here.
fn steps(
    calls: &CompoundCalls,
    caller: &Caller,
    (start, names): (Option<Handle>, &[Vec<u8>]),
    begins: bool,
) -> Walk<Option<Walked>> {
    let mut operations = Vec::with_capacity(BESIDE + OF_NAME * names.len());
    operations.extend(begins.then_some(Operation::ReclaimComplete));
    operations.push(match &start {
        Some(start) => {
            let put = calls.handles.to_wire(start).map(Operation::PutHandle);
            put.map_err(|error| EstablishError::Root(step(names), error))?
        }
        None => Operation::PutRoot,
    });
    operations.extend([Operation::GetHandle, LOOK, get(WANTED)]);
    for name in names {
        operations.extend([Operation::Lookup(name), Operation::GetHandle, LOOK]);
    }
    operations.push(get(WANTED));
    let compound = Compound::new("LOOKUP", Class::Lookup, &operations);
    let results = calls.call(caller, &Compound { is_upkeep: begins, ..compound });
    let results = results.map_err(|error| EstablishError::Root(step(names), error))?;
    let mut reader = match results.read() {
        Err(Stopped::Refused(sequence::OPERATION, _)) if begins => {
            calls.session.on_lost();
            return steps(calls, caller, (start, names), false);
        }
        reader => reader.map_err(|stopped| stopped_at(names, stopped))?,
    };
    if begins && let Err(stopped) = reader.skip(reclaim_complete::OPERATION) {
        tracing::debug!(?stopped, "RECLAIM_COMPLETE in front of others");
        return Ok(None);
    }
    if begins {
        calls.session.on_complete();
    }
    let put = if start.is_some() { putfh::OPERATION } else { putrootfh::OPERATION };
    reader.skip(put).map_err(|stopped| stopped_at(&[], stopped))?;
    read(&mut reader, &calls.handles, names).map(Some)
}

/// Takes the nodes on the way.
fn read(reader: &mut ResultReader<'_>, handles: &Handles, names: &[Vec<u8>]) -> Walk<Walked> {
    let root = node(reader, handles, &[])?;
    let facts = facts(reader)?;
    let mut walked = Walked { root, depth: 0, below: Vec::new(), first_below: None, facts };
    for (number, _) in names.iter().enumerate() {
        if let Err(stopped) = reader.skip(lookup::OPERATION) {
            walked.first_below = Some(Err(stopped.into()));
            return Ok(walked);
        }
        let node = node(reader, handles, &names[..=number])?;
        if node.attributes.kind != FileKind::Directory {
            walked.first_below = Some(Ok(node));
            return Ok(walked);
        }
        (walked.root, walked.depth) = (node, number + 1);
    }
    walked.facts = self::facts(reader)?;
    Ok(walked)
}

fn node(reader: &mut ResultReader<'_>, handles: &Handles, names: &[Vec<u8>]) -> Walk<Node> {
    let stopped = |stopped| stopped_at(names, stopped);
    let fault = |error| EstablishError::Root(step(names), error);
    let reply = reader.take::<getfh::Success<'_>>(getfh::OPERATION).map_err(stopped)?;
    let handle = handles.learn(reply.node).map_err(fault)?;
    // A node that is on another server has a handle, and no attributes (RFC 8881 11.6).
    let reply = reader.take::<getattr::Success<'_>>(getattr::OPERATION).map_err(stopped)?;
    Ok(Node { handle, attributes: attributes(&reply.attributes).map_err(fault)? })
}

fn facts(reader: &mut ResultReader<'_>) -> Walk<ServerFacts> {
    let reply = reader.take::<getattr::Success<'_>>(getattr::OPERATION);
    let reply = reply.map_err(|stopped| stopped_at(&[], stopped))?;
    let values = values(&reply.attributes).map_err(|error| EstablishError::Root(step(&[]), error))?;
    Ok(ServerFacts::of(&values))
}

/// Where the server says that the node is at which the path leaves it, which begins at the node of `start`. Nowhere if it does not say.
pub(super) fn places(
    calls: &CompoundCalls,
    caller: &Caller,
    start: Operation<'_>,
    path: &[Vec<u8>],
) -> Vec<String> {
    let most = (calls.session.sizes().operations as usize).saturating_sub(BESIDE) / 2;
    let mut operations = vec![start];
    let asked = path.len().min(most);
    for name in &path[..asked] {
        operations.extend([Operation::Lookup(name), get(Bitmap::of(&[FS_LOCATIONS]))]);
    }
    let results = calls.call(caller, &Compound::new("LOOKUP", Class::Lookup, &operations));
    let Ok(results) = results else { return Vec::new() };
    let mut last = Vec::new();
    let _ = results.read().and_then(|mut reader| {
        reader.skip(start.number())?;
        for depth in 1..=asked {
            reader.skip(lookup::OPERATION)?;
            let reply = reader.take::<getattr::Success<'_>>(getattr::OPERATION)?;
            let locations = Locations::decode(&mut Decoder::new(reply.attributes.bytes));
            // A file system that is here may have copies elsewhere. The last one on the way is the one that is not here.
            if let Ok(locations) = locations
                && !locations.places.is_empty()
            {
                last = named(&locations, &path[depth..]);
            }
        }
        Ok(())
    });
    last
}

/// Places as a person types them, with the rest of the path.
fn named(locations: &Locations<'_>, below: &[Vec<u8>]) -> Vec<String> {
    let place = |(server, root): (Opaque<'_>, Vec<Vec<u8>>)| {
        let path = [&root[..], below].concat();
        format!("{}:{}", Shown(server.0), Shown(&join(&path)))
    };
    let places = locations.places.iter().flat_map(|location| {
        let root: Vec<Vec<u8>> = location.root.iter().map(|name| name.0.to_vec()).collect();
        location.servers.iter().map(move |server| (server, root.clone()))
    });
    places.take(PLACES_MAX).map(place).collect()
}

fn step(names: &[Vec<u8>]) -> EstablishStep {
    EstablishStep::Path(join(names))
}

fn stopped_at(names: &[Vec<u8>], stopped: Stopped) -> EstablishError {
    match stopped {
        Stopped::Refused(_, status) => EstablishError::Refused(step(names), status),
        Stopped::Malformed => EstablishError::Malformed(step(names)),
    }
}
