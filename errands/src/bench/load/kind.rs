//! Which kinds of calls there are, and who makes them.

use super::change::Changes;
use super::compound::Compounds;
use super::data::{Reads, Writes};
use super::query::Queries;
use super::walk::Walk;
use super::{Load, Scene};

/// What calls there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Attributes of one of a few files.
    GetAttributes,
    /// The same by compounds of NFSv4.1.
    CompoundAttributes,
    /// 1 MiB after 1 MiB, by compounds of NFSv4.1.
    CompoundRead,
    /// Rights on one of a few files.
    Access,
    /// One of many names in a directory.
    Lookup,
    /// New files in an empty directory.
    Create,
    /// The files of a full directory.
    Remove,
    /// A large directory from start to end, again and again.
    List,
    /// 4 KB anywhere.
    ReadRandom,
    /// 4 KB anywhere.
    WriteRandom,
    /// 1 MiB after 1 MiB.
    ReadStream,
    /// 1 MiB after 1 MiB.
    WriteStream,
}

impl Kind {
    /// Makes the calls, and what they need in the export.
    pub fn load(self, scene: &mut Scene<'_>) -> anyhow::Result<Box<dyn Load>> {
        Ok(match self {
            Self::GetAttributes => Box::new(Queries::attributes(scene)?),
            Self::CompoundAttributes => Box::new(Compounds::attributes(scene)?),
            Self::CompoundRead => Box::new(Compounds::read(scene)?),
            Self::Access => Box::new(Queries::access(scene)?),
            Self::Lookup => Box::new(Queries::lookup(scene)?),
            Self::Create => Box::new(Changes::create(scene)?),
            Self::Remove => Box::new(Changes::remove(scene)?),
            Self::List => Box::new(Walk::new(scene)?),
            Self::ReadRandom => Box::new(Reads::random(scene)?),
            Self::ReadStream => Box::new(Reads::stream(scene)?),
            Self::WriteRandom => Box::new(Writes::random(scene)?),
            Self::WriteStream => Box::new(Writes::stream(scene)?),
        })
    }
}
