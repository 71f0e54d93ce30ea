//! GETACL: the ACLs of a node.

use super::{AclOnWire, AclSelection};
use crate::message::message;
use crate::nfs3::{Attributes, FileHandle, Refused};

/// Number of the procedure (`ACLPROC3_GETACL`).
pub const PROCEDURE: u32 = 1;

message! {
    /// Arguments of GETACL (`GETACL3args`).
    pub struct Arguments<'a> {
        /// The node.
        pub node: FileHandle<'a>,
        /// What is asked for.
        pub selection: AclSelection,
    }
}

message! {
    /// Answer of a GETACL that went well (`GETACL3resok`).
    pub struct Success<'a> {
        /// The node's attributes.
        pub attributes: Option<Attributes>,
        /// What was asked for.
        pub selection: AclSelection,
        /// Its access ACL.
        pub access: AclOnWire<'a>,
        /// Its default ACL; only directories have one.
        pub default: AclOnWire<'a>,
    }
}

/// Answer of a GETACL (`GETACL3res`).
pub type Reply<'a> = Result<Success<'a>, Refused<Option<Attributes>>>;
