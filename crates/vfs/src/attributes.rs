//! What a node is like: the attributes that are read, and those that may be set.

/// A point in time: seconds since 1970 (negative before), and nanoseconds within the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub seconds: i64,
    /// Nanoseconds within the second, below 1,000,000,000.
    pub nanoseconds: u32,
}

impl Timestamp {
    /// The nearest time that 32 bits express, the seconds from 1970 to 2106: all that NFSv3 knows (RFC 1813 2.5, `nfstime3`).
    #[must_use]
    pub fn in_32_bits(self) -> Self {
        let last = Self { seconds: u32::MAX.into(), nanoseconds: 999_999_999 };
        self.clamp(Self::default(), last)
    }

    /// The nanoseconds since 1970: the change attribute of a file system that has no other. Times after 2554 and before 1970 wrap, and
    /// differ all the same.
    pub fn as_change(self) -> u64 {
        self.seconds.cast_unsigned().wrapping_mul(1_000_000_000).wrapping_add(self.nanoseconds.into())
    }
}

/// The major and minor number of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DeviceNumber {
    /// The driver.
    pub major: u32,
    /// The unit of that driver.
    pub minor: u32,
}

/// What kind of node this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    SymbolicLink,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
    /// A Unix-domain socket.
    Socket,
    /// A named pipe.
    Fifo,
}

/// A node that is neither file, directory nor link: what MKNOD makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpecialKind {
    /// A block device with its number.
    BlockDevice(DeviceNumber),
    /// A character device with its number.
    CharacterDevice(DeviceNumber),
    /// A Unix-domain socket.
    Socket,
    /// A named pipe.
    Fifo,
}

/// All attributes of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes {
    /// Another number after each change of the node (NFSv4 `change`). Where there is nothing finer, it is `changed` in nanoseconds.
    pub change: u64,
    /// What it is.
    pub kind: FileKind,
    /// Permission bits with set-uid, set-gid and sticky: the low 12 bits of `st_mode`.
    pub mode: u32,
    /// Number of hard links.
    pub links: u32,
    /// Owner's user id.
    pub user: u32,
    /// Group id.
    pub group: u32,
    /// Size in bytes.
    pub size: u64,
    /// Bytes of storage in use.
    pub used: u64,
    /// Device number, for device nodes; zero otherwise.
    pub device: DeviceNumber,
    /// Identifies the file system that the node lives on.
    pub file_system: u64,
    /// Identifies the node within its file system (the inode number).
    pub file: u64,
    /// Last access.
    pub accessed: Timestamp,
    /// Last change of the data.
    pub modified: Timestamp,
    /// Last change of the attributes or the data.
    pub changed: Timestamp,
    /// When it was made, where that takes no call of its own (NFSv4 `time_create`).
    pub created: Option<Timestamp>,
}

impl Attributes {
    /// The same of a node that changed at another time, for which there is no finer change attribute.
    #[must_use]
    pub fn with_changed(self, changed: Timestamp) -> Self {
        Self { changed, change: changed.as_change(), ..self }
    }

    /// Which of several looks at one node is the latest: the time of change, and the change attribute within one tick of that clock.
    pub fn version(&self) -> (Timestamp, u64) {
        (self.changed, self.change)
    }
}

/// How SETATTR sets a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SetTime {
    /// Leave it.
    #[default]
    Keep,
    /// To the clock of the file system.
    Now,
    /// To the value given.
    To(Timestamp),
}

/// The attributes to set; what is `None` or `Keep` stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NewAttributes {
    /// Permission bits, the low 12 bits of `st_mode`.
    pub mode: Option<u32>,
    /// Owner's user id.
    pub user: Option<u32>,
    /// Group id.
    pub group: Option<u32>,
    /// Size in bytes: truncates, or extends with a hole.
    pub size: Option<u64>,
    /// Last access.
    pub accessed: SetTime,
    /// Last change of the data.
    pub modified: SetTime,
}

impl NewAttributes {
    /// Only the permission bits.
    pub fn with_mode(mode: u32) -> Self {
        Self { mode: Some(mode), ..Self::default() }
    }

    /// Only the size.
    pub fn with_size(size: u64) -> Self {
        Self { size: Some(size), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_differ_give_changes_that_differ() {
        let at = |seconds, nanoseconds| Timestamp { seconds, nanoseconds }.as_change();
        assert_eq!(at(2, 5), 2_000_000_005);
        assert!(at(2, 999_999_999) < at(3, 0));
        assert_ne!(at(-1, 0), at(1, 0));
    }
}
