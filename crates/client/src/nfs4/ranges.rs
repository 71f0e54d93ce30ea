//! SEEK, ALLOCATE, DEALLOCATE, COPY and CLONE (RFC 7862): only in minor version 2, and not at every server.

use std::sync::Arc;
use std::thread;

use howdah_session::OpenAccess;
use howdah_vfs::{
    Caller, Change, CopyRange, FileExtent, FileKind, FsError, Handle, RangeOperations, Result, SeekOutcome,
    SeekTarget, Stability, Written,
};
use howdah_wire::nfs4::{
    StateId, Status, allocate, clone, copy, deallocate, offload_cancel, putfh, savefh, seek,
};

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::stability;
use super::exchange::{CompoundCalls, Tries};
use super::open_file::{READS, WRITES};
use super::operation::Operation;
use super::results::{ResultReader, Results, Stopped};
use crate::channel::{Class, LateAnswer};

impl RangeOperations for Nfs4Client {
    /// Some servers say that there is no such place where RFC 7862 15.11.3 says "at the end", and others find everything at the start of
    /// the file: what contradicts itself would make a program take data for a hole.
    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome> {
        let found = match self.seek_once(caller, node, offset, target) {
            Err(FsError::NoDevice) if target == SeekTarget::Data => {
                let size = self.get_attributes(caller, node)?.size;
                let is_within = offset < size;
                return if is_within {
                    Ok(SeekOutcome { offset: size, end: true })
                } else {
                    Err(FsError::NoDevice)
                };
            }
            found => found?,
        };
        let is_hole_here = target == SeekTarget::Hole && !found.end && found.offset == offset;
        let contradicts = || {
            let data = self.seek_once(caller, node, offset, SeekTarget::Data);
            data.is_ok_and(|data| !data.end && data.offset <= offset)
        };
        if found.offset < offset || is_hole_here && contradicts() {
            tracing::warn!("the server's SEEK contradicts itself, and does not count");
            return Err(FsError::NotSupported);
        }
        Ok(found)
    }

    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let FileExtent { node, offset, length } = extent;
        let operation = |state| Operation::Allocate(allocate::Arguments { state, offset, length });
        self.change_extent("ALLOCATE", (caller, node), operation, change)
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let FileExtent { node, offset, length } = extent;
        let operation = |state| Operation::Deallocate(deallocate::Arguments { state, offset, length });
        self.change_extent("DEALLOCATE", (caller, node), operation, change)
    }

    /// COPY refuses a range that ends behind the end of its source (RFC 7862 15.2.3): then only what there is is copied.
    fn copy_range(&self, caller: &Caller, range: CopyRange<'_>, change: &mut Change) -> Result<Written> {
        let refused = match self.copy_exactly(caller, &range, change) {
            Err(FsError::Invalid) if range.count > 0 => FsError::Invalid,
            outcome => return outcome,
        };
        let source = self.get_attributes(caller, range.from.0)?;
        let target = self.get_attributes(caller, range.to.0)?;
        if target.kind == FileKind::Directory {
            return Err(FsError::IsDirectory);
        }
        let are_files = [source.kind, target.kind] == [FileKind::Regular; 2];
        match source.size.saturating_sub(range.from.1) {
            there if !are_files || there >= range.count => Err(refused),
            0 => Ok(Written { count: 0, stability: Stability::FileSync, verifier: [0; 8] }),
            count => self.copy_exactly(caller, &CopyRange { count, ..range }, change),
        }
    }

    fn clone_range(&self, caller: &Caller, range: CopyRange<'_>, change: &mut Change) -> Result<()> {
        let clone = |source, destination| {
            Operation::Clone(clone::Arguments {
                source,
                destination,
                source_offset: range.from.1,
                destination_offset: range.to.1,
                count: range.count,
            })
        };
        self.between(("CLONE", None), caller, &range, clone, |reader| {
            reader.skip(clone::OPERATION)?;
            *change = Change { before: None, after: reader.look().ok() };
            Ok(())
        })
    }
}

impl Nfs4Client {
    /// Its calls on ranges, if the minor version has them.
    pub(super) fn range_operations(&self) -> Option<&dyn RangeOperations> {
        (self.calls.session.minor_version() >= 2).then_some(self as _)
    }

    fn seek_once(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        target: SeekTarget,
    ) -> Result<SeekOutcome> {
        let what = match target {
            SeekTarget::Data => seek::DATA,
            SeekTarget::Hole => seek::HOLE,
        };
        let put = self.put(node)?;
        self.by_states("SEEK", caller, [(node, READS)], |[state]| {
            let operations = [put, Operation::Seek(seek::Arguments { state, offset, what })];
            let results = self.call(caller, &Compound::new("SEEK", Class::Attributes, &operations))?;
            Ok(found(&results))
        })
    }

    fn copy_exactly(&self, caller: &Caller, range: &CopyRange<'_>, change: &mut Change) -> Result<Written> {
        let copy = |source, destination| {
            Operation::Copy(copy::Arguments {
                source,
                destination,
                source_offset: range.from.1,
                destination_offset: range.to.1,
                count: range.count,
                consecutive: true,
                // A server reports a later copy by a callback, which this client does not take.
                synchronous: true,
                servers: Default::default(),
            })
        };
        let late = late_copy(&self.calls, caller, range.to.0);
        let answer = self.between(("COPY", Some(&late)), caller, range, copy, |reader| {
            let copied: copy::Success = reader.take(copy::OPERATION)?;
            *change = Change { before: None, after: reader.look().ok() };
            Ok(copied)
        })?;
        if let Some(copying) = answer.state {
            tracing::warn!("the server copies later, although it was asked to answer when it has copied");
            // Else it could replace what is written there next.
            self.cancel_copy(caller, range.to.0, copying)?;
            return Err(FsError::NotSupported);
        }
        if !answer.requirements.consecutive && answer.count != range.count {
            tracing::warn!("the server does not say which parts of a range it has copied");
            return Err(FsError::NotSupported);
        }
        let is_more = range.count > 0 && answer.count > range.count;
        let count = usize::try_from(answer.count).ok().filter(|_| !is_more).ok_or(FsError::ServerFault)?;
        Ok(Written { count, stability: stability(answer.committed), verifier: answer.verifier.0 })
    }

    /// Ends a copy that the server makes later (OFFLOAD_CANCEL, RFC 7862 15.8).
    ///
    /// # Errors
    /// [`FsError::Io`]: it continues, so what is written there next may be replaced.
    fn cancel_copy(&self, caller: &Caller, target: &Handle, copying: StateId) -> Result<()> {
        let operations = [self.put(target)?, Operation::CancelCopy(copying)];
        let results = self.call(caller, &Compound::change("OFFLOAD_CANCEL", &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        match reader.skip(offload_cancel::OPERATION) {
            // It is over.
            Ok(()) | Err(Stopped::Refused(_, Status::BAD_STATEID | Status::COMPLETE_ALREADY)) => Ok(()),
            Err(stopped) => {
                tracing::warn!(?stopped, "a copy that the server makes later could not be cancelled");
                Err(FsError::Io)
            }
        }
    }

    fn change_extent(
        &self,
        name: &'static str,
        (caller, node): (&Caller, &Handle),
        operation: impl Fn(StateId) -> Operation<'static>,
        change: &mut Change,
    ) -> Result<()> {
        let put = self.put(node)?;
        self.by_states(name, caller, [(node, WRITES)], |[state]| {
            let operation = operation(state);
            let results = self.call(caller, &Compound::new(name, Class::Commit, &[put, operation, LOOK]))?;
            let mut reader = results.read()?;
            reader.skip(putfh::OPERATION)?;
            let changed = reader.skip(operation.number());
            *change = Change { before: None, after: changed.ok().and_then(|()| reader.look().ok()) };
            Ok(changed)
        })
    }

    /// An operation from one file to another, which may take as long as a COMMIT and may run twice.
    fn between<T>(
        &self,
        (name, on_late): (&'static str, Option<&LateAnswer>),
        caller: &Caller,
        range: &CopyRange<'_>,
        operation: impl Fn(StateId, StateId) -> Operation<'static>,
        mut read: impl FnMut(&mut ResultReader<'_>) -> std::result::Result<T, Stopped>,
    ) -> Result<T> {
        let (from, to) = (self.put(range.from.0)?, self.put(range.to.0)?);
        self.by_states(
            name,
            caller,
            [(range.from.0, READS), (range.to.0, WRITES)],
            |[source, destination]| {
                let operations = [from, Operation::SaveHandle, to, operation(source, destination), LOOK];
                let compound = Compound::new(name, Class::Commit, &operations);
                let results = self.calls.call_or_hear(caller, &compound, on_late)?;
                let mut reader = results.read()?;
                skip_both(&mut reader)?;
                Ok(read(&mut reader))
            },
        )
    }

    /// Makes a call by the stateids of the opens of these files, so that locks which were lost are noticed; and makes it again by others
    /// if these were refused.
    fn by_states<T, const FILES: usize>(
        &self,
        name: &'static str,
        caller: &Caller,
        files: [(&Handle, OpenAccess); FILES],
        mut call: impl FnMut([StateId; FILES]) -> Result<std::result::Result<T, Stopped>>,
    ) -> Result<T> {
        let mut tries = Tries::new(&self.calls, name);
        loop {
            let mut states = [StateId::ANONYMOUS; FILES];
            for (state, (node, access)) in states.iter_mut().zip(files) {
                *state = self.state_for(caller, node, access)?;
            }
            let stopped = match call(states)? {
                Ok(outcome) => return Ok(outcome),
                Err(stopped) => stopped,
            };
            let opened = states.iter().zip(files).find(|(state, _)| **state != StateId::ANONYMOUS);
            let Some((_, (node, access))) = opened else { return Err(refused(stopped)) };
            if !self.is_for_state((caller, node, access), &mut tries, stopped)? {
                return Err(refused(stopped));
            }
        }
    }
}

/// Cancels a copy that a server makes later, if it says so only after the caller gave up: else it could replace what is written there next.
fn late_copy(calls: &CompoundCalls, caller: &Caller, target: &Handle) -> LateAnswer {
    let (upkeep, channel) = (Arc::clone(calls.session.upkeep()), Arc::downgrade(&calls.channel));
    let (handles, caller, target) = (Arc::clone(&calls.handles), caller.clone(), *target);
    LateAnswer(Arc::new(move |results| {
        let Some(copying) = copies_later(results) else { return };
        let (Some(channel), Ok(put)) = (channel.upgrade(), handles.to_wire(&target)) else { return };
        let (upkeep, caller) = (Arc::clone(&upkeep), caller.clone());
        let cancel = move || {
            let operations = [Operation::PutHandle(put), Operation::CancelCopy(copying)];
            let request = upkeep.name.request_as(&caller);
            if let Err(error) = upkeep.start_in_session(&channel, request, &operations).wait() {
                tracing::warn!(%error, "a copy that nobody waits for could not be cancelled");
            }
        };
        if let Err(error) = thread::Builder::new().name("cancel".to_owned()).spawn(cancel) {
            tracing::warn!(%error, "a copy that nobody waits for is not cancelled");
        }
    }))
}

/// The copy that goes on when COPY has been answered.
fn copies_later(results: &[u8]) -> Option<StateId> {
    let results = Results { name: "COPY", bytes: results.to_vec(), repeated: false };
    let mut reader = results.read().ok()?;
    skip_both(&mut reader).ok()?;
    reader.take::<copy::Success>(copy::OPERATION).ok()?.state
}

fn found(results: &Results) -> std::result::Result<SeekOutcome, Stopped> {
    let mut reader = results.read()?;
    reader.skip(putfh::OPERATION)?;
    let seek::Success { end, offset } = reader.take(seek::OPERATION)?;
    Ok(SeekOutcome { offset, end })
}

fn skip_both(reader: &mut ResultReader<'_>) -> Result<()> {
    for operation in [putfh::OPERATION, savefh::OPERATION, putfh::OPERATION] {
        reader.skip(operation)?;
    }
    Ok(())
}

/// A server that does these only by an open, or only in another way, does not do them for this client.
fn refused(stopped: Stopped) -> FsError {
    match stopped {
        Stopped::Refused(
            _,
            Status::BAD_STATEID
            | Status::UNION_NOTSUPP
            | Status::OFFLOAD_DENIED
            | Status::OFFLOAD_NO_REQS
            | Status::PARTNER_NOTSUPP,
        ) => FsError::NotSupported,
        stopped => stopped.into(),
    }
}
