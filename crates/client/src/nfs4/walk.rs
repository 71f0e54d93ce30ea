//! The path from the server's root to the directory that a URL names: all of it in one compound, if the server takes as many operations.

use howdah_vfs::{Caller, FileKind, Handle, Node};
use howdah_wire::nfs4::{getattr, getfh, lookup, putfh, putrootfh, reclaim_complete};

use super::change::{LOOK, get};
use super::client::Walked;
use super::compound::Compound;
use super::convert::values;
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

type Walk<T> = Result<T, EstablishError>;

/// Walks a path. Says that nothing is to be reclaimed, too: a client that was never there before has nothing (RFC 8881 18.51).
pub(super) fn walk(calls: &CompoundCalls, caller: &Caller, path: &[Vec<u8>]) -> Walk<Walked> {
    let most = (calls.session.sizes().operations as usize).saturating_sub(BESIDE) / OF_NAME;
    let (first, _) = path.split_at(most.max(1).min(path.len()));
    let mut walked = match steps(calls, caller, (None, first), true)? {
        Some(walked) => walked,
        // The server wants it alone. Whether it takes it shows when something is to be reclaimed, which is never.
        None => {
            let alone = [Operation::ReclaimComplete];
            let alone = Compound::new("RECLAIM_COMPLETE", Class::Attributes, &alone);
            let told = calls.call(caller, &Compound { is_upkeep: true, ..alone });
            told.map_err(|error| EstablishError::Root(EstablishStep::Session, error))?;
            calls.session.on_complete();
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
    let mut reader = results.read().map_err(|stopped| stopped_at(names, stopped))?;
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
    let told = reader.take::<getfh::Success<'_>>(getfh::OPERATION);
    let told = told.map_err(|stopped| stopped_at(names, stopped))?;
    let fault = |error| EstablishError::Root(step(names), error);
    let handle = handles.learn(told.node).map_err(fault)?;
    Ok(Node { handle, attributes: reader.look().map_err(fault)? })
}

fn facts(reader: &mut ResultReader<'_>) -> Walk<ServerFacts> {
    let told = reader.take::<getattr::Success<'_>>(getattr::OPERATION);
    let told = told.map_err(|stopped| stopped_at(&[], stopped))?;
    let values = values(&told.attributes).map_err(|error| EstablishError::Root(step(&[]), error))?;
    Ok(ServerFacts::of(&values))
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
