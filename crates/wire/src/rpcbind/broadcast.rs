//! CALLIT of version 3, BCAST and INDIRECT of version 4 (RFC 1833 2.2.1 and 2.2.2): rpcbind calls a program in the
//! caller's place. BCAST does not answer errors; INDIRECT does.

use super::Text;
use crate::message::message;
use crate::portmap::callit;

/// Number of CALLIT and BCAST.
pub const PROCEDURE: u32 = 5;

/// Arguments of all three (`rpcb_rmtcallargs`): those of portmap's CALLIT.
pub type Arguments<'a> = callit::Arguments<'a>;

message! {
    /// Answer of all three (`rpcb_rmtcallres`).
    pub struct Reply<'a> {
        /// The program's universal address.
        pub address: Text<'a>,
        /// The procedure's result.
        pub result: callit::CallData<'a>,
    }
}
