//! SEEK, ALLOCATE, DEALLOCATE, COPY and CLONE (RFC 7862): only in minor version 2, and not at every server.

use howdah_vfs::{
    Caller, Change, CopyRange, FileExtent, FileKind, FsError, Handle, RangeOperations, Result, SeekOutcome,
    SeekTarget, Stability, Written,
};
use howdah_wire::nfs4::{StateId, Status, allocate, clone, copy, deallocate, putfh, savefh, seek};
use howdah_wire::xdr::Decode;

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::convert::stability;
use super::operation::Operation;
use super::results::{ResultReader, Stopped};
use crate::channel::Class;

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
        let arguments = allocate::Arguments { state: StateId::ANONYMOUS, offset, length };
        self.change_extent("ALLOCATE", (caller, node), Operation::Allocate(arguments), change)
    }

    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()> {
        let FileExtent { node, offset, length } = extent;
        let arguments = deallocate::Arguments { state: StateId::ANONYMOUS, offset, length };
        self.change_extent("DEALLOCATE", (caller, node), Operation::Deallocate(arguments), change)
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
        let clone = Operation::Clone(clone::Arguments {
            source: StateId::ANONYMOUS,
            destination: StateId::ANONYMOUS,
            source_offset: range.from.1,
            destination_offset: range.to.1,
            count: range.count,
        });
        let results = self.between("CLONE", caller, &range, clone)?;
        let mut reader = results.read()?;
        skip_both(&mut reader)?;
        skip(&mut reader, clone::OPERATION)?;
        *change = Change { before: None, after: reader.look().ok() };
        Ok(())
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
        let seek = Operation::Seek(seek::Arguments { state: StateId::ANONYMOUS, offset, what });
        let operations = [self.put(node)?, seek];
        let results = self.call(caller, &Compound::new("SEEK", Class::Attributes, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let seek::Success { end, offset } = take(&mut reader, seek::OPERATION)?;
        Ok(SeekOutcome { offset, end })
    }

    fn copy_exactly(&self, caller: &Caller, range: &CopyRange<'_>, change: &mut Change) -> Result<Written> {
        let copy = Operation::Copy(copy::Arguments {
            source: StateId::ANONYMOUS,
            destination: StateId::ANONYMOUS,
            source_offset: range.from.1,
            destination_offset: range.to.1,
            count: range.count,
            consecutive: true,
            // What is copied later would be told by a callback, which this client does not take.
            synchronous: true,
            servers: Default::default(),
        });
        let results = self.between("COPY", caller, range, copy)?;
        let mut reader = results.read()?;
        skip_both(&mut reader)?;
        let told: copy::Success = take(&mut reader, copy::OPERATION)?;
        *change = Change { before: None, after: reader.look().ok() };
        if told.state.is_some() {
            tracing::warn!("the server copies later, although it was asked to answer when it has copied");
            return Err(FsError::NotSupported);
        }
        if !told.requirements.consecutive && told.count != range.count {
            tracing::warn!("the server does not say which parts of a range it has copied");
            return Err(FsError::NotSupported);
        }
        let is_more = range.count > 0 && told.count > range.count;
        let count = usize::try_from(told.count).ok().filter(|_| !is_more).ok_or(FsError::ServerFault)?;
        Ok(Written { count, stability: stability(told.committed), verifier: told.verifier.0 })
    }

    fn change_extent(
        &self,
        name: &'static str,
        (caller, node): (&Caller, &Handle),
        operation: Operation<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let operations = [self.put(node)?, operation, LOOK];
        let results = self.call(caller, &Compound::new(name, Class::Commit, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        skip(&mut reader, operation.number())?;
        *change = Change { before: None, after: reader.look().ok() };
        Ok(())
    }

    /// An operation from one file to another, which may take as long as a COMMIT and may run twice.
    fn between(
        &self,
        name: &'static str,
        caller: &Caller,
        range: &CopyRange<'_>,
        operation: Operation<'_>,
    ) -> Result<super::results::Results> {
        let (from, to) = (self.put(range.from.0)?, self.put(range.to.0)?);
        let operations = [from, Operation::SaveHandle, to, operation, LOOK];
        self.call(caller, &Compound::new(name, Class::Commit, &operations))
    }
}

fn skip_both(reader: &mut ResultReader<'_>) -> Result<()> {
    for operation in [putfh::OPERATION, savefh::OPERATION, putfh::OPERATION] {
        reader.skip(operation)?;
    }
    Ok(())
}

fn skip(reader: &mut ResultReader<'_>, operation: u32) -> Result<()> {
    reader.skip(operation).map_err(refused)
}

fn take<'a, T: Decode<'a>>(reader: &mut ResultReader<'a>, operation: u32) -> Result<T> {
    reader.take(operation).map_err(refused)
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
