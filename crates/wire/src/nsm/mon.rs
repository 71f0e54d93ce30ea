//! MON: monitors a host: its restart is to be told.

use super::Monitored;
use crate::message::message;

pub use super::stat::Reply;

/// Number of the procedure (`SM_MON`).
pub const PROCEDURE: u32 = 2;

message! {
    /// Arguments of MON (`mon`).
    pub struct Arguments<'a> {
        /// Whose restart, and whom to tell.
        pub monitored: Monitored<'a>,
        /// To be given back when it is told (`priv`).
        pub private: [u8; 16],
    }
}
