//! Values in the records of a journal: big-endian numbers, and bytes behind their length.

use howdah_vfs::{
    Attributes, Caller, DeviceNumber, FileKind, GroupList, Handle, NewAttributes, SetTime, Timestamp,
};

const KINDS: [FileKind; 7] = [
    FileKind::Regular,
    FileKind::Directory,
    FileKind::SymbolicLink,
    FileKind::BlockDevice,
    FileKind::CharacterDevice,
    FileKind::Socket,
    FileKind::Fifo,
];

/// A record that is being written.
#[derive(Debug, Default)]
pub struct RecordWriter(pub Vec<u8>);

/// A record that is being read. Everything is `None` where the record is too short or holds what no record holds.
#[derive(Debug)]
pub struct RecordReader<'r>(pub &'r [u8]);

impl RecordWriter {
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub fn short(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub fn long(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub fn bytes(&mut self, value: &[u8]) {
        self.long(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// A value that may be missing.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(value.is_some().into());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub fn handle(&mut self, handle: &Handle) {
        self.bytes(handle.as_bytes());
    }

    pub fn time(&mut self, time: Timestamp) {
        self.long(time.seconds.cast_unsigned());
        self.short(time.nanoseconds);
    }

    pub fn caller(&mut self, caller: &Caller) {
        self.short(caller.user);
        self.short(caller.group);
        let groups = caller.groups.as_slice();
        self.long(groups.len() as u64);
        groups.iter().for_each(|group| self.short(*group));
    }

    pub fn attributes(&mut self, of: &Attributes) {
        self.long(of.change);
        self.byte(KINDS.iter().position(|kind| *kind == of.kind).unwrap_or_default() as u8);
        for value in [of.mode, of.links, of.user, of.group, of.device.major, of.device.minor] {
            self.short(value);
        }
        for value in [of.size, of.used, of.file_system, of.file] {
            self.long(value);
        }
        for time in [of.accessed, of.modified, of.changed] {
            self.time(time);
        }
        self.option(of.created, Self::time);
    }

    pub fn new_attributes(&mut self, new: &NewAttributes) {
        for value in [new.mode, new.user, new.group] {
            self.option(value, Self::short);
        }
        self.option(new.size, Self::long);
        for time in [new.accessed, new.modified] {
            match time {
                SetTime::Keep => self.byte(0),
                SetTime::Now => self.byte(1),
                SetTime::To(time) => {
                    self.byte(2);
                    self.time(time);
                }
            }
        }
    }
}

impl<'r> RecordReader<'r> {
    fn take(&mut self, count: usize) -> Option<&'r [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    pub fn short(&mut self) -> Option<u32> {
        self.take(4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes)
    }

    pub fn long(&mut self) -> Option<u64> {
        self.take(8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes)
    }

    pub fn bytes(&mut self) -> Option<&'r [u8]> {
        let length = usize::try_from(self.long()?).ok()?;
        self.take(length)
    }

    /// A value that may be missing.
    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => read(self).map(Some),
            _ => None,
        }
    }

    pub fn handle(&mut self) -> Option<Handle> {
        Handle::new(self.bytes()?).ok()
    }

    pub fn time(&mut self) -> Option<Timestamp> {
        Some(Timestamp { seconds: self.long()?.cast_signed(), nanoseconds: self.short()? })
    }

    pub fn caller(&mut self) -> Option<Caller> {
        let (user, group, count) = (self.short()?, self.short()?, self.long()?);
        let count = usize::try_from(count).ok().filter(|count| *count <= self.0.len() / 4)?;
        let groups: Option<Vec<u32>> = (0..count).map(|_| self.short()).collect();
        Some(Caller { user, group, groups: GroupList::new(groups?) })
    }

    pub fn attributes(&mut self) -> Option<Attributes> {
        Some(Attributes {
            change: self.long()?,
            kind: *KINDS.get(usize::from(self.byte()?))?,
            mode: self.short()?,
            links: self.short()?,
            user: self.short()?,
            group: self.short()?,
            device: DeviceNumber { major: self.short()?, minor: self.short()? },
            size: self.long()?,
            used: self.long()?,
            file_system: self.long()?,
            file: self.long()?,
            accessed: self.time()?,
            modified: self.time()?,
            changed: self.time()?,
            created: self.option(Self::time)?,
        })
    }

    pub fn new_attributes(&mut self) -> Option<NewAttributes> {
        let set = |reader: &mut Self| match reader.byte()? {
            0 => Some(SetTime::Keep),
            1 => Some(SetTime::Now),
            2 => reader.time().map(SetTime::To),
            _ => None,
        };
        Some(NewAttributes {
            mode: self.option(Self::short)?,
            user: self.option(Self::short)?,
            group: self.option(Self::short)?,
            size: self.option(Self::long)?,
            accessed: set(self)?,
            modified: set(self)?,
        })
    }
}
