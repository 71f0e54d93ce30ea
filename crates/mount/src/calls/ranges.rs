//! Ranges of files: holes, space that is reserved or given back, and copies that the server makes.

use fuser::Errno;
use howdah_vfs::{
    Change, CopyRange, FileExtent, FsError, NewAttributes, RangeOperations, SeekTarget, SetAttributes,
};

use crate::opens::KernelFile;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;

/// How often a file that others change meanwhile is made longer: then the C library writes to it instead.
const ALLOCATE_TRIES: u32 = 4;
/// The mode of fallocate(2) that gives space back.
const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

impl Shared {
    /// LSEEK for data or a hole. The kernel handles other seeks itself, and these too after ENOSYS.
    pub fn seek(&self, open: u64, offset: i64, whence: i32) -> Answer<i64> {
        let (ranges, file) = (self.ranges()?, self.files.of(open)?);
        let target = match whence {
            libc::SEEK_DATA => SeekTarget::Data,
            libc::SEEK_HOLE => SeekTarget::Hole,
            _ => return Err(Refused(Errno::EINVAL)),
        };
        let offset = u64::try_from(offset).map_err(|_| Refused(Errno::ENXIO))?;
        let found = ranges.seek(&file.caller, &file.node.handle, offset, target)?;
        if found.end && target == SeekTarget::Data {
            return Err(Refused(Errno::ENXIO));
        }
        i64::try_from(found.offset).map_err(|_| Refused(Errno::EOVERFLOW))
    }

    /// COPY_FILE_RANGE: the server copies as much as it does in one call. Where it cannot, the kernel reads and writes.
    pub fn copy(
        &self,
        (from, from_offset): (u64, u64),
        (to, to_offset): (u64, u64),
        count: u64,
    ) -> Answer<u32> {
        let ranges = self.ranges()?;
        let (source, target) = (self.files.of(from)?, self.files.of(to)?);
        if source.caller != target.caller {
            // One call has one caller: the kernel reads and writes.
            return Err(Refused(Errno::EOPNOTSUPP));
        }
        // What the kernel takes in an answer. No bytes would mean all of them.
        let count = count.min(u32::MAX.into());
        if count == 0 {
            return Ok(0);
        }
        target.node.content.lock().unset.wrote();
        let (from, to) = ((&source.node.handle, from_offset), (&target.node.handle, to_offset));
        let copied = ranges.copy_range(&target.caller, CopyRange { from, to, count }, &mut Change::default());
        let copied = copied.map_err(|error| refused_data(&target, error))?;
        target.wrote(&copied);
        self.counters.on_write(copied.count);
        Ok(u32::try_from(copied.count).unwrap_or(u32::MAX))
    }

    /// FALLOCATE. Where no space is reserved, as by NFSv3, a file can still be made longer. Without that, the C library writes a byte
    /// to each page.
    pub fn allocate(&self, open: u64, (offset, length): (u64, u64), mode: i32) -> Answer<()> {
        let file = self.files.of(open)?;
        let end = offset.checked_add(length).ok_or(Refused(Errno::EFBIG))?;
        self.settle_first(&file.node);
        let (caller, node, change) = (&file.caller, &file.node.handle, &mut Change::default());
        match (mode, self.file_system.ranges()) {
            (PUNCH, Some(ranges)) => ranges
                .deallocate(caller, FileExtent { node, offset, length }, change)
                .map_err(|error| refused_data(&file, error)),
            (0, Some(ranges)) => match ranges.allocate(caller, FileExtent { node, offset, length }, change) {
                Err(FsError::NotSupported) => self.lengthen(&file, end),
                outcome => outcome.map_err(|error| refused_data(&file, error)),
            },
            (0, None) => self.lengthen(&file, end),
            _ => Err(Refused(Errno::EOPNOTSUPP)),
        }
    }

    /// Makes a file longer. What another host made longer meanwhile is not cut: the server compares the time of the file's last change.
    fn lengthen(&self, file: &KernelFile, end: u64) -> Answer<()> {
        let (caller, node, new) = (&file.caller, &file.node.handle, NewAttributes::with_size(end));
        for _ in 0..ALLOCATE_TRIES {
            let now = self.consistency.sent(caller, node)?;
            if end <= now.size {
                return Err(Refused(Errno::EOPNOTSUPP));
            }
            let guard = Some((&now).into());
            let set = self.file_system.set_attributes(
                caller,
                SetAttributes::new(node, &new, guard),
                &mut Change::default(),
            );
            match set {
                Err(FsError::NotSynchronised) => {}
                outcome => return Ok(outcome?),
            }
        }
        Err(Refused(Errno::EOPNOTSUPP))
    }

    /// The calls on ranges, if there are any. The kernel does not ask again where there are none.
    fn ranges(&self) -> Answer<&dyn RangeOperations> {
        self.file_system.ranges().ok_or(Refused(Errno::ENOSYS))
    }
}

/// Notes an error that may belong to data accepted earlier, so that the next fsync does not report it again.
fn refused_data(file: &KernelFile, error: FsError) -> Refused {
    let refused = Refused::from(error);
    file.on_refused_write(refused, true);
    refused
}
