//! OPENATTR (RFC 8881 18.17): makes the directory of the current node's named attributes the current one. The result holds
//! nothing.

use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 19;

message! {
    /// Arguments of OPENATTR (`OPENATTR4args`).
    pub struct Arguments {
        /// Whether to make it if there is none.
        pub create: bool,
    }
}
