//! UNMON_ALL: monitors no host any longer for a program.

use super::Monitor;
use crate::message::message;

pub use super::unmon::Reply;

/// Number of the procedure (`SM_UNMON_ALL`).
pub const PROCEDURE: u32 = 4;

message! {
    /// Arguments of UNMON_ALL (`my_id`).
    pub struct Arguments<'a> {
        /// Who wanted to know.
        pub by: Monitor<'a>,
    }
}
