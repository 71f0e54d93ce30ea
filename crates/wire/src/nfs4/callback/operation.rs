//! The numbers of callbacks that nothing here decodes (RFC 8881 20, RFC 7862 16), and which minor version has which.

/// Attributes of a file that the client has a write delegation of (`OP_CB_GETATTR`).
pub const GETATTR: u32 = 3;
/// Layouts are wanted back (`OP_CB_LAYOUTRECALL`).
pub const LAYOUTRECALL: u32 = 5;

/// Whether a minor version has a callback of this number. If not, the answer is NFS4ERR_OP_ILLEGAL, and [`super::ILLEGAL`] stands for
/// the number.
pub fn exists(operation: u32, minor_version: u32) -> bool {
    let last = if minor_version == 1 { 14 } else { 15 };
    (3..=last).contains(&operation)
}
