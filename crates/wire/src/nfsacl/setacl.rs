//! SETACL: sets ACLs of a node.

use super::{AclOnWire, AclSelection};
use crate::message::message;
use crate::nfs3::{Attributes, FileHandle, Refused};

/// Number of the procedure (`ACLPROC3_SETACL`).
pub const PROCEDURE: u32 = 2;

message! {
    /// Arguments of SETACL (`SETACL3args`).
    pub struct Arguments<'a> {
        /// The node.
        pub node: FileHandle<'a>,
        /// Which ACLs are set; the others stay.
        pub selection: AclSelection,
        /// Its access ACL.
        pub access: AclOnWire<'a>,
        /// Its default ACL; without entries it is removed.
        pub default: AclOnWire<'a>,
    }
}

message! {
    /// Answer of a SETACL that went well (`SETACL3resok`).
    pub struct Success {
        /// The node's attributes.
        pub attributes: Option<Attributes>,
    }
}

/// Answer of a SETACL (`SETACL3res`).
pub type Reply = Result<Success, Refused<Option<Attributes>>>;
