//! What can be stored: GETATTR of limits and of what a file system can do.

use howdah_vfs::{Caller, Handle, Limits, Result};
use howdah_wire::nfs4::attributes::{self as wire, Support};
use howdah_wire::nfs4::{Bitmap, Time, getattr, putfh};

use super::change::get;
use super::client::Nfs4Client;
use super::compound::Compound;
use crate::channel::Class;

/// The longest name where a server says nothing, in bytes.
const NAME_MAX: u32 = 255;

const WANTED: Bitmap = Bitmap::of(&[
    wire::LINK_SUPPORT,
    wire::SYMLINK_SUPPORT,
    wire::CASE_INSENSITIVE,
    wire::CASE_PRESERVING,
    wire::CHOWN_RESTRICTED,
    wire::MAXFILESIZE,
    wire::MAXLINK,
    wire::MAXNAME,
    wire::TIME_DELTA,
    wire::CLONE_BLKSIZE,
]);

impl Nfs4Client {
    pub(super) fn told_limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        self.with_values(caller, node, WANTED & self.facts.attributes, |reply| {
            let wire::Attributes { limits, support, .. } = reply;
            let Support { hard_links, symbolic_links, chown_restricted, .. } = *support;
            Limits {
                largest_file: limits.file_size.unwrap_or(i64::MAX as u64),
                longest_name: limits.name.unwrap_or(NAME_MAX),
                most_links: limits.links.unwrap_or(1),
                time_step_nanoseconds: limits.time_step.map_or(1, nanoseconds),
                hard_links: hard_links.unwrap_or(true),
                symbolic_links: symbolic_links.unwrap_or(true),
                chown_restricted: chown_restricted.unwrap_or(true),
                case_insensitive: support.case_insensitive.unwrap_or(false),
                case_preserving: support.case_preserving.unwrap_or(true),
                parallel_writes: true,
                passes_files: true,
                clone_block: limits.clone_block.filter(|block| *block > 0),
            }
        })
    }

    /// Some values of attributes of a node.
    pub(super) fn with_values<T>(
        &self,
        caller: &Caller,
        node: &Handle,
        wanted: Bitmap,
        take: impl FnOnce(&wire::Attributes<'_>) -> T,
    ) -> Result<T> {
        let operations = [self.put(node)?, get(wanted)];
        let results = self.call(caller, &Compound::new("GETATTR", Class::Attributes, &operations))?;
        let mut reader = results.read()?;
        reader.skip(putfh::OPERATION)?;
        let reply = reader.take::<getattr::Success<'_>>(getattr::OPERATION)?;
        Ok(take(&super::convert::values(&reply.attributes)?))
    }
}

/// In nanoseconds; a step of more than four seconds counts as four.
fn nanoseconds(step: Time) -> u32 {
    let seconds = u32::try_from(step.seconds).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(step.nanoseconds).max(1)
}
