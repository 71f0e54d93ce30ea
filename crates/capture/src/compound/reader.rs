//! Goes through a compound, operation by operation, with the current and the saved node.

use howdah_wire::nfs4::compound::ResultHead;
use howdah_wire::nfs4::{
    OperationRole, Status, access, close, get_dir_delegation, getattr, getfh, lookup, nverify, operation,
    putfh, putpubfh, putrootfh, remove, restorefh, savefh, sequence, setattr, verify, write,
};
use howdah_wire::xdr::{Decode, Decoder};

use super::bytes::CompoundBytes;
use super::telling::{CompoundStory, Current};
use super::{attributes, work};
use crate::format::Call;
use crate::pseudonyms::Pseudonyms;

/// A status that the RFC does not have.
const UNKNOWN: &str = "OTHER";

/// The operation that a line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reported {
    role: OperationRole,
    number: u32,
    is_done: bool,
}

/// Reads one compound.
pub struct CompoundReader<'c> {
    telling: CompoundStory<'c>,
    reported: Option<Reported>,
    /// The operation that was refused.
    refused: Option<u32>,
    /// Whether it was checked that the node found is a directory, or that it is none.
    is_directory: Option<bool>,
    lines: Vec<Call>,
}

impl<'c> CompoundReader<'c> {
    pub fn new(pseudonyms: &'c Pseudonyms, kept: CompoundBytes<'c>, call: Call) -> Self {
        let (current, saved) = Default::default();
        Self {
            telling: CompoundStory { pseudonyms, kept, from: 0, call, current, saved },
            reported: None,
            refused: None,
            is_directory: None,
            lines: Vec::new(),
        }
    }

    /// The next operation and its result. None: the rest cannot be read.
    pub fn step(&mut self, arguments: &mut Decoder<'c>, result: &mut Decoder<'c>) -> Option<()> {
        let number = arguments.u32("operation").ok()?;
        let answered = ResultHead::decode(result).ok()?;
        let is_done = answered.status == Status::OK;
        self.refused = (!is_done).then_some(number);
        self.report(number, is_done)?;
        let result = is_done.then_some(result);
        match number {
            sequence::OPERATION => {
                sequence::Arguments::decode(arguments).ok()?;
                sequence::Success::decode(result?).ok()?;
            }
            putfh::OPERATION => self.put(arguments)?,
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
                if self.reported.is_some_and(|reported| reported.number == number) {
                    self.telling.call.access = Some(wanted);
                }
                access::Success::decode(result?).ok()?;
            }
            verify::OPERATION | nverify::OPERATION => self.check(number, arguments)?,
            get_dir_delegation::OPERATION => {
                get_dir_delegation::Arguments::decode(arguments).ok()?;
                get_dir_delegation::Success::decode(result?).ok()?;
            }
            close::OPERATION => {
                close::Arguments::decode(arguments).ok()?;
                close::Success::decode(result?).ok()?;
            }
            _ => work::tell(&mut self.telling, number, arguments, result)?,
        }
        Some(())
    }

    /// Takes this operation for the one that a line is for: the present one, if its role is greater than of those before it, or another one
    /// if it works, too. None: what follows is left out.
    fn report(&mut self, number: u32, is_done: bool) -> Option<()> {
        let role = OperationRole::of(number);
        let greatest = self.reported.map(|reported| reported.role);
        match greatest {
            Some(OperationRole::Works) if role == OperationRole::Works && number != close::OPERATION => {
                if !work::has_procedure(number) {
                    return None;
                }
                self.end_line();
            }
            // Of the names on a path the first is reported.
            Some(greatest) if role == OperationRole::Finds && greatest >= role => return None,
            // What was refused keeps the compound from what it was made for.
            Some(OperationRole::Prepares) if role == OperationRole::Prepares && !is_done => {}
            Some(greatest) if role <= greatest => return Some(()),
            _ => {}
        }
        self.begin(role, number, is_done);
        Some(())
    }

    fn begin(&mut self, role: OperationRole, number: u32, is_done: bool) {
        self.reported = Some(Reported { role, number, is_done });
        let (node, call) = (self.telling.current.told(), &mut self.telling.call);
        if call.node != node {
            (call.kind, call.size) = (None, None);
        }
        (call.node, call.access) = (node, None);
        // What was found on the way to it.
        (call.name, call.found, call.found_kind, call.found_size) = (None, None, None, None);
    }

    /// What was reported stays, and another line begins.
    fn end_line(&mut self) {
        let call = &self.telling.call;
        let next = Call {
            at: call.at,
            took: call.took,
            client: call.client,
            connection: call.connection,
            udp: call.udp,
            ..Call::default()
        };
        let ended = std::mem::replace(&mut self.telling.call, next);
        let line = self.completed(ended);
        self.lines.push(line);
        self.telling.current = self.telling.current.of_next_line();
        self.telling.saved = self.telling.saved.of_next_line();
    }

    fn put(&mut self, arguments: &mut Decoder<'c>) -> Option<()> {
        let node = putfh::Arguments::decode(arguments).ok()?.node;
        self.telling.current = Current::Told(self.telling.pseudonyms.node(node.0));
        Some(())
    }

    /// VERIFY and NVERIFY go on if the node is of a kind, or is not.
    fn check(&mut self, number: u32, arguments: &mut Decoder<'c>) -> Option<()> {
        verify::Arguments::decode(arguments).ok()?;
        self.is_directory = Some(number == verify::OPERATION);
        Some(())
    }

    fn handle(&mut self, result: &mut Decoder<'_>) -> Option<()> {
        let node = self.telling.pseudonyms.node(getfh::Success::decode(result).ok()?.node.0);
        self.telling.current = match self.telling.current {
            Current::Found(_) => {
                self.telling.call.found = Some(node.clone());
                Current::Found(Some(node))
            }
            _ => Current::Told(node),
        };
        Some(())
    }

    fn attributes(&mut self, result: &mut Decoder<'_>) -> Option<()> {
        let values = getattr::Success::decode(result).ok()?.attributes;
        let (kind, size) = attributes::node(&values);
        let reported = self.reported;
        let call = &mut self.telling.call;
        if matches!(self.telling.current, Current::Found(_)) {
            (call.found_kind, call.found_size) = (kind, size);
        } else if call.node.is_none() && reported.is_some_and(|reported| reported.role < OperationRole::Finds)
        {
            (call.node, call.kind, call.size) = (self.telling.current.told(), kind, size);
        } else if call.node.is_some() && call.node == self.telling.current.told() {
            call.kind = kind;
            // The record holds the size before the call.
            let has_changed =
                reported.is_some_and(|its| matches!(its.number, write::OPERATION | setattr::OPERATION));
            call.size = if has_changed { call.size } else { size };
        }
        Some(())
    }

    /// Completes the lines with the operations' names and the status.
    pub fn finish(mut self, status: Status, arguments: &mut Decoder<'c>) -> Vec<Call> {
        let refused = self.refused.filter(|_| status != Status::OK);
        if refused.is_some() {
            self.look_for_remove(arguments);
        }
        let (reported, call) = (self.reported, std::mem::take(&mut self.telling.call));
        let mut last = self.completed(call);
        // What was done stays done, whatever follows it. Where the refused operation was not read, the last one counts.
        let is_done = reported.is_some_and(|its| its.is_done && its.role == OperationRole::Works);
        if status != Status::OK && !(is_done && refused.is_some()) {
            let name = match status {
                Status::SAME if reported.is_some_and(|its| its.number == remove::OPERATION) => "ISDIR",
                Status::NOT_SAME if reported.is_some_and(|its| its.number == remove::OPERATION) => "NOTDIR",
                status => status.rfc_name().unwrap_or(UNKNOWN),
            };
            last.error = Some(name.strip_prefix("NFS4ERR_").unwrap_or(name).into());
            last.found_kind = None;
        }
        self.lines.push(last);
        self.lines
    }

    /// A name that was to be removed was looked up before, and its kind was checked: what was refused is reported as the removal.
    fn look_for_remove(&mut self, arguments: &mut Decoder<'c>) -> Option<()> {
        let is_check = |number| matches!(number, verify::OPERATION | nverify::OPERATION);
        self.refused.filter(|number| *number == lookup::OPERATION || is_check(*number))?;
        loop {
            match arguments.u32("operation").ok()? {
                number if is_check(number) => self.check(number, arguments)?,
                putfh::OPERATION => self.put(arguments)?,
                remove::OPERATION => {
                    self.begin(OperationRole::Works, remove::OPERATION, false);
                    return work::tell(&mut self.telling, remove::OPERATION, arguments, None);
                }
                _ => return None,
            }
        }
    }

    fn completed(&self, mut call: Call) -> Call {
        let number = self.reported.map(|reported| reported.number);
        let name = number.and_then(operation::name).unwrap_or(UNKNOWN);
        call.operation = Some(name.into());
        call.procedure = match number {
            Some(remove::OPERATION) if self.is_directory == Some(true) => "RMDIR",
            number => work::procedure(number.unwrap_or_default(), &call).unwrap_or(name),
        }
        .into();
        call
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
            assert!(OperationRole::of(known) >= OperationRole::Finds, "{known}");
        }
    }
}
