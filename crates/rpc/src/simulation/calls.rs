//! Calls, as far as a simulation knows them: how large they and their replies are.

use super::Call;
use crate::client::datagram::NewCall;
use crate::client::{Class, ReplaySafety};

/// Headers of a READ's reply in a datagram: RPC 24, status, attributes, counts.
const READ_REPLY: usize = 128;

/// A GETATTR.
pub fn getattr(xid: u32) -> NewCall<usize> {
    NewCall {
        xid,
        class: Class::Attributes,
        replay: ReplaySafety::Idempotent,
        sends: 140,
        receives: 112,
        transfer: None,
        expires: None,
        call: 112,
    }
}

/// A READ of so many bytes.
pub fn read(xid: u32, bytes: usize) -> NewCall<usize> {
    NewCall {
        xid,
        class: Class::Read,
        replay: ReplaySafety::Idempotent,
        sends: 140,
        receives: bytes + READ_REPLY,
        transfer: Some(bytes),
        expires: None,
        call: bytes + READ_REPLY,
    }
}

/// A NULL, as the state machine asks for.
pub fn null(xid: u32) -> NewCall<Call> {
    NewCall {
        xid,
        class: Class::Attributes,
        replay: ReplaySafety::Idempotent,
        sends: 40,
        receives: 24,
        transfer: None,
        expires: None,
        call: (xid, 24),
    }
}
