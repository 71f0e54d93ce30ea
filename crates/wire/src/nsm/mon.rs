//! MON: monitors a host: its restart is to be reported.

use super::Monitored;
use crate::message::message;

pub use super::stat::Reply;

/// Number of the procedure (`SM_MON`).
pub const PROCEDURE: u32 = 2;

message! {
    /// Arguments of MON (`mon`).
    pub struct Arguments<'a> {
        /// Which host to watch, and which program to call.
        pub monitored: Monitored<'a>,
        /// To be given back with the report (`priv`).
        pub private: [u8; 16],
    }
}
