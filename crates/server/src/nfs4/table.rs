//! Which operation is which: the one place that knows all of them.

use howdah_wire::xdr::Decoder;

use super::compound::{Compound, Outcome};
use super::*;
use crate::Reply;
use crate::outline::ReplyPace;
use crate::outline::ReplyPace::{Dear, Quick, Slow};

/// Answers an operation: reads its arguments, and appends what its result holds.
pub type RunOperation = fn(&mut Compound<'_>, &mut Decoder<'_>, &mut Reply) -> Outcome;

/// An operation.
#[derive(Clone, Copy)]
pub struct Operation {
    /// Its handler.
    pub run: RunOperation,
    /// What to expect of it. A compound is as demanding as its most demanding operation.
    pub pace: ReplyPace,
    /// Whether it changes something: then there must be room for its result before it runs.
    pub changes: bool,
    /// Whether it may stand alone, in no session.
    pub makes_sessions: bool,
    /// Whether it may not stand beside others at all.
    pub is_alone: bool,
}

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Behind SEQUENCE.
    InSession,
    /// First.
    Alone,
}

/// The operation of this number, if it is served.
pub fn find(number: u32) -> Option<&'static Operation> {
    OPERATIONS.get(number as usize)?.as_ref()
}

/// It looks and changes nothing.
const fn looks(pace: ReplyPace, run: RunOperation) -> Option<Operation> {
    Some(Operation { run, pace, changes: false, makes_sessions: false, is_alone: false })
}

/// It changes something.
const fn changes(pace: ReplyPace, run: RunOperation) -> Option<Operation> {
    Some(Operation { run, pace, changes: true, makes_sessions: false, is_alone: false })
}

/// It makes or ends sessions.
const fn session(run: RunOperation, is_alone: bool) -> Option<Operation> {
    Some(Operation { run, pace: Quick, changes: true, makes_sessions: true, is_alone })
}

/// By number.
static OPERATIONS: [Option<Operation>; 76] = {
    let mut table = [const { None }; 76];
    table[3] = looks(Quick, access::run);
    table[4] = changes(Quick, close::run);
    table[5] = changes(Slow, commit::run);
    table[6] = changes(Quick, create::run);
    table[8] = changes(Quick, delegation::give_back);
    table[9] = looks(Quick, getattr::run);
    table[10] = looks(Quick, getfh::run);
    table[11] = changes(Quick, link::run);
    table[12] = changes(Quick, lock::run);
    table[13] = looks(Quick, lock::test);
    table[14] = changes(Quick, lock::unlock);
    table[15] = looks(Quick, lookup::run);
    table[16] = looks(Quick, lookupp::run);
    table[17] = looks(Quick, verify::run_not);
    table[18] = changes(Quick, open::run);
    table[21] = changes(Quick, close::downgrade);
    table[22] = looks(Quick, putfh::run);
    table[23] = looks(Quick, putrootfh::run);
    table[24] = looks(Quick, putrootfh::run);
    table[25] = looks(Quick, read::run);
    table[26] = looks(Dear, readdir::run);
    table[27] = looks(Quick, readlink::run);
    table[28] = changes(Quick, remove::run);
    table[29] = changes(Quick, rename::run);
    table[31] = looks(Quick, savefh::restore);
    table[32] = looks(Quick, savefh::run);
    table[33] = looks(Quick, secinfo::run);
    table[34] = changes(Quick, setattr::run);
    table[37] = looks(Quick, verify::run);
    // What its data is decides: `Outline::brings`.
    table[38] = changes(Quick, write::run);
    table[40] = changes(Quick, bind::control);
    table[41] = session(bind::run, true);
    table[42] = session(exchange_id::run, false);
    table[43] = session(create_session::run, false);
    table[44] = session(ending::session, false);
    table[45] = changes(Quick, stateids::free);
    table[46] = changes(Quick, delegation::of_directory);
    table[52] = looks(Quick, secinfo::no_name);
    table[55] = looks(Quick, stateids::test);
    table[57] = session(ending::client, false);
    table[58] = changes(Quick, ending::reclaim);
    table[59] = changes(Slow, allocate::run);
    table[60] = changes(Slow, copy::run);
    table[62] = changes(Slow, allocate::deallocate);
    table[69] = looks(Quick, seek::run);
    table[71] = changes(Slow, clone::run);
    table[72] = looks(Quick, xattr::get);
    table[73] = changes(Quick, xattr::set);
    table[74] = looks(Quick, xattr::list);
    table[75] = changes(Quick, xattr::remove);
    table
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use howdah_wire::nfs4::{operation, sequence};

    use super::*;

    #[test]
    fn the_documentation_lists_what_is_served() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocols/nfs4.md");
        let text = std::fs::read_to_string(file).expect("documentation");
        let listed: BTreeMap<u32, String> = text
            .lines()
            .filter_map(|line| {
                let mut fields = line.strip_prefix("| ")?.split(" | ");
                Some((fields.next()?.parse().ok()?, fields.next()?.to_owned()))
            })
            .collect();
        let numbers = 0..OPERATIONS.len() as u32;
        let served = numbers.filter(|number| find(*number).is_some() || *number == sequence::OPERATION);
        let served: BTreeMap<u32, String> =
            served.map(|number| (number, operation::name(number).expect("a name").to_owned())).collect();
        assert_eq!(listed, served);
    }
}
