//! Goes through a compound, operation by operation, with the current and the saved node.

use howdah_wire::nfs4::compound::ResultHead;
use howdah_wire::nfs4::{
    OperationRole, Status, access, getattr, getfh, operation, putfh, putpubfh, putrootfh, restorefh, savefh,
    sequence, setattr, write,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::telling::{CompoundStory, Current};
use super::{attributes, work};
use crate::format::Call;
use crate::pseudonyms::Pseudonyms;

/// A status that the RFC does not have.
const UNKNOWN: &str = "OTHER";

/// Reads one compound.
pub struct CompoundReader<'c> {
    telling: CompoundStory<'c>,
    reported: Option<(OperationRole, u32)>,
    has_worked: bool,
}

impl<'c> CompoundReader<'c> {
    pub fn new(pseudonyms: &'c Pseudonyms, call: &'c mut Call) -> Self {
        Self {
            telling: CompoundStory { pseudonyms, call, current: Current::Untold, saved: Current::Untold },
            reported: None,
            has_worked: false,
        }
    }

    /// The next operation and its result. None: the rest cannot be read.
    pub fn step(&mut self, arguments: &mut Decoder<'_>, result: &mut Decoder<'_>) -> Option<()> {
        let number = arguments.u32("operation").ok()?;
        let answered = ResultHead::decode(result).ok()?;
        let result = (answered.status == Status::OK).then_some(result);
        self.tell(number);
        if result.is_none() && self.reported.is_some_and(|(role, _)| role == OperationRole::Prepares) {
            // What was refused keeps the compound from what it was made for.
            self.reported = Some((OperationRole::Prepares, number));
        }
        match number {
            sequence::OPERATION => {
                sequence::Arguments::decode(arguments).ok()?;
                sequence::Success::decode(result?).ok()?;
            }
            putfh::OPERATION => {
                let node = putfh::Arguments::decode(arguments).ok()?.node;
                self.telling.current = Current::Told(self.telling.pseudonyms.node(node.0));
            }
            putrootfh::OPERATION | putpubfh::OPERATION => self.telling.current = Current::Untold,
            savefh::OPERATION => self.telling.saved = self.telling.current.clone(),
            restorefh::OPERATION => self.telling.current = self.telling.saved.clone(),
            getfh::OPERATION => self.handle(result?)?,
            getattr::OPERATION => {
                getattr::Arguments::decode(arguments).ok()?;
                self.attributes(result?)?;
            }
            access::OPERATION => {
                let wanted = access::Arguments::decode(arguments).ok()?.wanted;
                if self.is_told(number) {
                    self.telling.call.access = Some(wanted);
                }
                access::Success::decode(result?).ok()?;
            }
            // One record holds one operation that works: what follows is left out.
            _ if self.has_worked => return None,
            _ => {
                self.has_worked = true;
                work::tell(&mut self.telling, number, arguments, result)?;
            }
        }
        Some(())
    }

    /// Takes this operation for the one that the compound was made for, if its role is greater than of those before it.
    fn tell(&mut self, number: u32) {
        let role = OperationRole::of(number);
        if self.reported.is_some_and(|(greatest, _)| role <= greatest) {
            return;
        }
        self.reported = Some((role, number));
        let node = self.telling.current.told();
        if self.telling.call.node != node {
            (self.telling.call.kind, self.telling.call.size) = (None, None);
        }
        (self.telling.call.node, self.telling.call.access) = (node, None);
    }

    fn is_told(&self, number: u32) -> bool {
        self.reported.is_some_and(|(_, reported)| reported == number)
    }

    fn handle(&mut self, result: &mut Decoder<'_>) -> Option<()> {
        let node = self.telling.pseudonyms.node(getfh::Success::decode(result).ok()?.node.0);
        match self.telling.current {
            Current::Found => self.telling.call.found = Some(node),
            _ => self.telling.current = Current::Told(node),
        }
        Some(())
    }

    fn attributes(&mut self, result: &mut Decoder<'_>) -> Option<()> {
        let values = getattr::Success::decode(result).ok()?.attributes;
        let (kind, size) = attributes::node(&values);
        let call = &mut *self.telling.call;
        if self.telling.current == Current::Found {
            (call.found_kind, call.found_size) = (kind, size);
        } else if call.node.is_none() && self.reported.is_some_and(|(role, _)| role < OperationRole::Works) {
            (call.node, call.kind, call.size) = (self.telling.current.told(), kind, size);
        } else if call.node.is_some() && call.node == self.telling.current.told() {
            call.kind = kind;
            // The record holds the size before the call.
            let has_changed = matches!(self.reported, Some((_, write::OPERATION | setattr::OPERATION)));
            call.size = if has_changed { call.size } else { size };
        }
        Some(())
    }

    /// Completes the record with the operation's name and the status.
    pub fn finish(self, status: Status) {
        let (operation, call) = (self.reported.map(|(_, number)| number), self.telling.call);
        let name = operation.and_then(operation::name).unwrap_or(UNKNOWN);
        call.operation = Some(name.into());
        call.procedure = work::procedure(operation.unwrap_or_default(), call).unwrap_or(name).into();
        if status != Status::OK {
            let name = status.rfc_name().unwrap_or(UNKNOWN);
            call.error = Some(name.strip_prefix("NFS4ERR_").unwrap_or(name).into());
            call.found_kind = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::{
        commit, create, link, lookup, lookupp, open, read, readdir, readlink, remove, rename,
    };

    use super::*;

    #[test]
    fn what_is_told_by_a_procedure_of_version_3_is_read() {
        for known in [
            commit::OPERATION,
            create::OPERATION,
            link::OPERATION,
            lookup::OPERATION,
            lookupp::OPERATION,
            open::OPERATION,
            read::OPERATION,
            readdir::OPERATION,
            readlink::OPERATION,
            remove::OPERATION,
            rename::OPERATION,
            setattr::OPERATION,
            write::OPERATION,
        ] {
            assert!(work::procedure(known, &Call::default()).is_some(), "{known}");
            assert_eq!(OperationRole::of(known), OperationRole::Works);
        }
    }
}
