//! PATHCONF, which with FSINFO gives the limits.

use howdah_vfs::{Caller, Handle, Limits, Result};
use howdah_wire::nfs3::{Time, fsinfo, pathconf};

use super::client::Nfs3;
use super::convert::file_handle;
use super::exchange::success;
use super::procedure::Procedure;
use crate::channel::Class;

const PROCEDURE: Procedure = Procedure::idempotent(pathconf::PROCEDURE, "PATHCONF", Class::Attributes);

impl Nfs3 {
    pub(super) fn told_limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        let paths = || {
            let results = self.call(caller, PROCEDURE, &pathconf::Arguments { node: file_handle(node) })?;
            success(results.decode::<pathconf::Reply>(PROCEDURE)?, |_| {})
        };
        let (information, paths) = match &self.told {
            Some(information) if *node == self.root => (*information, paths()),
            _ => self.information(caller, node, paths)?,
        };
        let paths = paths?;
        Ok(Limits {
            largest_file: information.largest_file,
            longest_name: paths.longest_name,
            most_links: paths.most_links,
            time_step_nanoseconds: nanoseconds(information.time_step),
            hard_links: information.properties & fsinfo::HARD_LINKS != 0,
            symbolic_links: information.properties & fsinfo::SYMBOLIC_LINKS != 0,
            chown_restricted: paths.chown_restricted,
            case_insensitive: paths.case_insensitive,
            case_preserving: paths.case_preserving,
            parallel_writes: true,
            // A datagram must be whole before it goes.
            passes_files: self.channel.transfer_size().is_none(),
            clone_block: None,
        })
    }
}

/// In nanoseconds; a step of more than four seconds counts as four.
fn nanoseconds(step: Time) -> u32 {
    step.seconds.saturating_mul(1_000_000_000).saturating_add(step.nanoseconds)
}
