//! Where things stand in a call of ours, and the canned replies.

use howdah_wire::nfs3::{Attributes, BeforeAttributes, Device, FileType, Time, WeakCacheConsistency, write};
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Encode, Encoder};

/// Length of a handle of the usual kind.
pub const HANDLE: [u8; 32] = [7; 32];

/// The word at a place.
pub fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

/// The hyper at a place.
pub fn hyper(bytes: &[u8], at: usize) -> u64 {
    (word(bytes, at) as u64) << 32 | word(bytes, at + 4) as u64
}

/// What follows the handle that the arguments of every call begin with. The call comes with its record mark; before
/// its credentials stand six words, after them an empty verifier.
pub fn after_handle(call: &[u8]) -> &[u8] {
    let credentials = RecordMark::SIZE + 6 * 4;
    let handle = credentials + 8 + word(call, credentials + 4) + 8;
    &call[handle + 4 + word(call, handle).next_multiple_of(4)..]
}

/// The name that follows the handle.
pub fn name(call: &[u8]) -> &[u8] {
    let after = after_handle(call);
    &after[4..4 + word(after, 0)]
}

/// The xid of a call, as it goes into the reply.
pub fn xid(call: &[u8]) -> [u8; 4] {
    [call[4], call[5], call[6], call[7]]
}

/// A reply that went well, with `bulk` bytes to follow.
pub fn reply(result: &impl Encode, bulk: usize) -> Vec<u8> {
    let mut record = reply_header();
    Encoder::new(&mut record).u32(0);
    result.encode(&mut Encoder::new(&mut record));
    let length = (record.len() - RecordMark::SIZE + bulk) as u32;
    record[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
    record
}

/// The start of a reply up to its status, with an empty record mark.
pub fn reply_header() -> Vec<u8> {
    let mut record = vec![0; RecordMark::SIZE];
    ReplyHeader { xid: 0, outcome: Ok(Accepted::Success) }.encode(&mut Encoder::new(&mut record));
    record
}

/// Some attributes: all replies of the same kind have the same length.
pub fn attributes() -> Attributes {
    Attributes {
        kind: FileType::Regular,
        mode: 0o644,
        links: 1,
        user: 0,
        group: 0,
        size: 0,
        used: 0,
        device: Device::default(),
        file_system: 0,
        file: 0,
        accessed: Time::default(),
        modified: Time::default(),
        changed: Time::default(),
    }
}

/// Some attributes before and after.
pub fn before_and_after() -> WeakCacheConsistency {
    let before = BeforeAttributes { size: 0, modified: Time::default(), changed: Time::default() };
    WeakCacheConsistency { before: Some(before), after: Some(attributes()) }
}

/// The reply to a WRITE of so many bytes.
pub fn written(count: u32) -> Vec<u8> {
    let committed = write::Stability::Unstable;
    reply(&write::Success { file: before_and_after(), count, committed, verifier: [0; 8] }, 0)
}
