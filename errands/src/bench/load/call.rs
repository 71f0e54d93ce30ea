//! Encoded calls, and the check that every reply must pass.

use anyhow::ensure;
use howdah_wire::nfs3;
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials, RecordMark};
use howdah_wire::xdr::{Encode, Encoder};

use super::super::export::user;

/// Where the xid stands in an encoded call.
const XID: std::ops::Range<usize> = RecordMark::SIZE..RecordMark::SIZE + 4;
/// The start of a reply that went well, after the xid: a reply, accepted, empty verifier, success, `NFS3_OK`.
const WENT_WELL: [u8; 24] = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// A call as a whole record; `bulk` bytes of it are to follow.
pub fn encode(program: u32, version: u32, procedure: u32, arguments: &impl Encode, bulk: usize) -> Vec<u8> {
    let credentials = Credentials::Sys(AuthSys::new(b"bench", user(), user(), &[]));
    let mut record = vec![0; RecordMark::SIZE];
    let mut encoder = Encoder::new(&mut record);
    CallHeader { xid: 0, program, version, procedure, credentials }.encode(&mut encoder);
    arguments.encode(&mut encoder);
    let length = (record.len() - RecordMark::SIZE + bulk) as u32;
    record[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
    record
}

/// A call of NFSv3.
pub fn nfs(procedure: u32, arguments: &impl Encode) -> Vec<u8> {
    nfs_before(procedure, arguments, 0)
}

/// A call of NFSv3, up to the `bulk` bytes that end it.
pub fn nfs_before(procedure: u32, arguments: &impl Encode, bulk: usize) -> Vec<u8> {
    encode(nfs3::PROGRAM, nfs3::VERSION, procedure, arguments, bulk)
}

/// Puts the xid into an encoded call.
pub fn set_xid(record: &mut [u8], xid: u32) {
    record[XID].copy_from_slice(&xid.to_be_bytes());
}

/// A reply that did not go well is an error.
pub fn check_success(reply: &[u8]) -> anyhow::Result<()> {
    ensure!(reply[4..28] == WENT_WELL, "a call was refused; its reply starts with {:02x?}", &reply[..28]);
    Ok(())
}

/// What follows the status of a reply.
pub fn result(reply: &[u8]) -> &[u8] {
    &reply[28..]
}
