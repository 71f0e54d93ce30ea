//! One call, with its arguments as places in the universe; and how bytes become calls.

use std::ops::Range;

use super::universe::{CALLERS, LENGTHS, NAMES, OFFSETS, OWNERS, SLOTS, STABILITIES, TARGETS};

/// Bytes that one operation is made from.
const BYTES: usize = 8;

/// How CREATE treats a name that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Unchecked,
    Truncating,
    Guarded,
    /// Twice in a row, as a client does that missed the answer, and then SETATTR.
    Exclusive,
}

/// What SETATTR sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting {
    Mode(usize),
    Size(usize),
    User(usize),
    Group(usize),
    TimesTo(i64),
    TimesNow,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Look { into: usize },
    Parent { into: usize },
    Attributes,
    Access,
    ReadLink,
    Read { offset: usize, length: usize },
    Write { offset: usize, length: usize, stability: usize },
    Create { how: How, mode: usize, into: usize },
    MakeDirectory { mode: usize, into: usize },
    MakeLink { target: usize, into: usize },
    MakeSpecial { kind: usize, mode: usize, into: usize },
    Remove,
    RemoveDirectory,
    Rename { to: usize, to_name: usize },
    Link { node: usize },
    Set(Setting),
    List { pages: bool },
    Commit,
}

/// One call: who, on the node of which slot, with which name, does what. What it makes or finds goes to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub(super) who: usize,
    pub(super) node: usize,
    pub(super) name: usize,
    pub(super) act: Act,
}

/// Operations made from any bytes: eight give one, and what is left over is ignored.
pub fn from_bytes(bytes: &[u8]) -> Vec<Operation> {
    bytes.as_chunks::<BYTES>().0.iter().map(Operation::from_bytes).collect()
}

/// Where directories go, and where all else; one choice in [`ODD_ONE_IN`] looks in the wrong place.
const DIRECTORIES: Range<usize> = 0..SLOTS / 2;
const LEAVES: Range<usize> = SLOTS / 2..SLOTS;
const ODD_ONE_IN: usize = 8;

/// The slot that a byte chooses, most often out of `range`.
fn slot(choice: usize, range: Range<usize>) -> usize {
    if choice.is_multiple_of(ODD_ONE_IN) {
        return choice / ODD_ONE_IN % SLOTS;
    }
    range.start + choice / ODD_ONE_IN % range.len()
}

impl Operation {
    /// Every eight bytes make an operation.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Self {
        let [act, who, node, name, one, two, three, into] = bytes.map(usize::from);
        // The first slot keeps the directory that all happens in.
        let directory = slot(into, DIRECTORIES).max(1);
        let leaf = slot(into, LEAVES).max(1);
        let (offset, length) = (one % OFFSETS.len(), two % LENGTHS.len());
        let act = match act % 32 {
            0 => Act::Look { into: leaf },
            1 => Act::Look { into: directory },
            2 => Act::Parent { into: directory },
            3 => Act::Attributes,
            4 => Act::Access,
            5 => Act::ReadLink,
            6 | 7 => Act::Read { offset, length },
            8..=10 => Act::Write { offset, length, stability: three % STABILITIES.len() },
            11 | 12 => Act::Create { how: how(one), mode: two, into: leaf },
            13 | 14 => Act::MakeDirectory { mode: two, into: directory },
            15 => Act::MakeLink { target: one % TARGETS.len(), into: leaf },
            16 => Act::MakeSpecial { kind: one, mode: two, into: leaf },
            17 | 18 => Act::Remove,
            19 => Act::RemoveDirectory,
            20..=23 => Act::Rename { to: slot(one, DIRECTORIES), to_name: two % NAMES.len() },
            24 | 25 => Act::Link { node: slot(one, LEAVES) },
            26..=28 => Act::Set(setting(one, two)),
            29 | 30 => Act::List { pages: one % 2 == 0 },
            _ => Act::Commit,
        };
        let range = match act {
            Act::Attributes | Act::Access | Act::Set(Setting::Mode(_)) => 0..SLOTS,
            Act::ReadLink | Act::Read { .. } | Act::Write { .. } | Act::Set(_) | Act::Commit => LEAVES,
            _ => DIRECTORIES,
        };
        Self { who: who % CALLERS, node: slot(node, range), name: name % NAMES.len(), act }
    }
}

fn how(choice: usize) -> How {
    [How::Unchecked, How::Truncating, How::Guarded, How::Exclusive][choice % 4]
}

fn setting(choice: usize, value: usize) -> Setting {
    match choice % 8 {
        0..=2 => Setting::Mode(value),
        3 => Setting::Size(value % OFFSETS.len()),
        4 => Setting::User(value % OWNERS.len()),
        5 => Setting::Group(value % OWNERS.len()),
        6 => Setting::TimesTo(1_000_000 + value as i64),
        _ => Setting::TimesNow,
    }
}
