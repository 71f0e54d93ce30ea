//! CALLIT (RFC 1833 3.2, `PMAPPROC_CALLIT`): has the portmapper call a program in the caller's place. rpcbind's BCAST and
//! INDIRECT take the same arguments.

use crate::limits::CALLIT_MAX;
use crate::message::{message, opaque};

/// Number of the procedure.
pub const PROCEDURE: u32 = 5;

opaque! {
    /// Arguments or results of the procedure that is called.
    pub struct CallData, CALLIT_MAX, "data of the call";
}

message! {
    /// Arguments of CALLIT (`call_args`).
    pub struct Arguments<'a> {
        /// The program to call.
        pub program: u32,
        /// Its version.
        pub version: u32,
        /// The procedure of that version.
        pub procedure: u32,
        /// The procedure's arguments.
        pub arguments: CallData<'a>,
    }
}

message! {
    /// Answer of CALLIT (`call_result`).
    pub struct Reply<'a> {
        /// The program's port.
        pub port: u32,
        /// The procedure's result.
        pub result: CallData<'a>,
    }
}
