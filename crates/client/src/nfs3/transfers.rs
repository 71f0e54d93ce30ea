//! READ and WRITE as parts of larger ones.

use howdah_vfs::{Attributes, Caller, Change, Handle, Result, Written};

use super::client::Nfs3;
use crate::Sizes;
use crate::channel::{Channel, Pending};
use crate::common::{ReadPart, ReadRange, Transfers, WritePart};

impl Transfers for Nfs3 {
    fn carried_by(&self) -> &Channel {
        &self.channel
    }

    fn transfer_sizes(&self) -> Sizes {
        self.sizes
    }

    fn start_read(&self, range: ReadRange<'_>, buffer: Vec<u8>) -> Result<Pending> {
        Ok(self.begin_read(range, buffer))
    }

    fn finish_read(
        &self,
        range: ReadRange<'_>,
        started: Option<Pending>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadPart> {
        self.end_read(range, started, buffer)
    }

    fn start_write(&self, part: &WritePart<'_>) -> Result<Pending> {
        self.begin_write(part)
    }

    fn finish_write(
        &self,
        part: &WritePart<'_>,
        started: Option<Pending>,
        change: &mut Change,
    ) -> Result<Written> {
        self.end_write(part, started, change)
    }

    fn attributes_now(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.get_attributes(caller, node)
    }
}
