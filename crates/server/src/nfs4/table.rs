//! Which operation is which: the one place that knows all of them.

use howdah_wire::xdr::Decoder;

use super::compound::{Compound, Outcome};
use super::*;
use crate::Reply;

/// Answers an operation: reads its arguments, and appends what its result holds.
pub type RunOperation = fn(&mut Compound<'_>, &mut Decoder<'_>, &mut Reply) -> Outcome;

/// An operation.
#[derive(Clone, Copy)]
pub struct Operation {
    /// Its handler.
    pub run: RunOperation,
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
const fn looks(run: RunOperation) -> Option<Operation> {
    Some(Operation { run, changes: false, makes_sessions: false, is_alone: false })
}

/// It changes something.
const fn changes(run: RunOperation) -> Option<Operation> {
    Some(Operation { run, changes: true, makes_sessions: false, is_alone: false })
}

/// It makes or ends sessions.
const fn session(run: RunOperation) -> Option<Operation> {
    Some(Operation { run, changes: true, makes_sessions: true, is_alone: false })
}

/// By number.
static OPERATIONS: [Option<Operation>; 76] = {
    let mut table = [const { None }; 76];
    table[3] = looks(access::run);
    table[4] = changes(close::run);
    table[5] = changes(commit::run);
    table[6] = changes(create::run);
    table[8] = changes(delegation::give_back);
    table[9] = looks(getattr::run);
    table[10] = looks(getfh::run);
    table[11] = changes(link::run);
    table[12] = changes(lock::run);
    table[13] = looks(lock::test);
    table[14] = changes(lock::unlock);
    table[15] = looks(lookup::run);
    table[16] = looks(lookupp::run);
    table[17] = looks(verify::run_not);
    table[18] = changes(open::run);
    table[21] = changes(close::downgrade);
    table[22] = looks(putfh::run);
    table[23] = looks(putrootfh::run);
    table[24] = looks(putrootfh::run);
    table[25] = looks(read::run);
    table[26] = looks(readdir::run);
    table[27] = looks(readlink::run);
    table[28] = changes(remove::run);
    table[29] = changes(rename::run);
    table[31] = looks(savefh::restore);
    table[32] = looks(savefh::run);
    table[33] = looks(secinfo::run);
    table[34] = changes(setattr::run);
    table[37] = looks(verify::run);
    table[38] = changes(write::run);
    table[40] = changes(bind::control);
    table[41] = Some(Operation { run: bind::run, changes: true, makes_sessions: true, is_alone: true });
    table[42] = session(exchange_id::run);
    table[43] = session(create_session::run);
    table[44] = session(ending::session);
    table[45] = changes(stateids::free);
    table[52] = looks(secinfo::no_name);
    table[55] = looks(stateids::test);
    table[57] = session(ending::client);
    table[58] = changes(ending::reclaim);
    table[59] = changes(allocate::run);
    table[60] = changes(copy::run);
    table[62] = changes(allocate::deallocate);
    table[69] = looks(seek::run);
    table[71] = changes(clone::run);
    table[72] = looks(xattr::get);
    table[73] = changes(xattr::set);
    table[74] = looks(xattr::list);
    table[75] = changes(xattr::remove);
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
        let told: BTreeMap<u32, String> = text
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
        assert_eq!(told, served);
    }
}
