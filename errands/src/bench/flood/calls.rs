//! Calls that attackers send many of at a time: such as are dear to look up, and such as lead nowhere.

use std::sync::atomic::{AtomicU32, Ordering};

use howdah_wire::mount::{self, DirectoryPath, mnt};
use howdah_wire::nfs3::{self, FileHandle, access, getattr};
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials, RecordMark};
use howdah_wire::xdr::{Encode, Encoder};

use super::kind::Target;

/// Calls of an act.
const BURST: usize = 16;
/// All that AUTH_SYS has room for (RFC 5531 appendix A).
const GROUPS: u32 = 16;
/// Numbers whatever should be another one each time.
static NEXT: AtomicU32 = AtomicU32::new(1);

/// MNT of a path of hundreds of names.
pub fn deep_paths(target: &Target) -> Vec<u8> {
    let arguments = mnt::Arguments { path: DirectoryPath(target.deep.as_bytes()) };
    burst(|| call((mount::PROGRAM, mount::VERSION_3, mnt::PROCEDURE), &[], &arguments))
}

/// ACCESS by a user that is not known yet, with as many groups as there may be.
pub fn many_groups(target: &Target) -> Vec<u8> {
    let arguments = access::Arguments { node: FileHandle(&target.file), wanted: 1 };
    burst(|| {
        let first = 100_000 + next() % 1_000_000 * GROUPS;
        let groups: Vec<u32> = (first..first + GROUPS).collect();
        call((nfs3::PROGRAM, nfs3::VERSION, access::PROCEDURE), &groups, &arguments)
    })
}

/// GETATTR of handles that were made up.
pub fn forged_handles(target: &Target) -> Vec<u8> {
    burst(|| {
        let mut handle = target.file.clone();
        let number = next().to_be_bytes();
        handle.iter_mut().rev().zip(number.iter().rev()).for_each(|(byte, noise)| *byte ^= noise);
        attributes(&handle)
    })
}

/// GETATTR of a file that is gone.
pub fn stale_handles(target: &Target) -> Vec<u8> {
    burst(|| attributes(&target.gone))
}

fn attributes(handle: &[u8]) -> Vec<u8> {
    let arguments = getattr::Arguments { node: FileHandle(handle) };
    call((nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE), &[], &arguments)
}

fn burst(mut one: impl FnMut() -> Vec<u8>) -> Vec<u8> {
    (0..BURST).flat_map(|_| one()).collect()
}

fn next() -> u32 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A call as a whole record, of a user who has these groups.
fn call((program, version, procedure): (u32, u32, u32), groups: &[u32], arguments: &impl Encode) -> Vec<u8> {
    let user = 1_000 + groups.first().copied().unwrap_or(0);
    let credentials = Credentials::Sys(AuthSys::new(b"flood", user, user, groups));
    let mut record = vec![0; RecordMark::SIZE];
    let mut encoder = Encoder::new(&mut record);
    CallHeader { xid: next(), program, version, procedure, credentials }.encode(&mut encoder);
    arguments.encode(&mut encoder);
    let length = (record.len() - RecordMark::SIZE) as u32;
    record[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
    record
}
