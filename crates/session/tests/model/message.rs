//! What client and server send each other.

use howdah_rpc::client::envelope::CallTicket;
use howdah_session::{ExchangedId, UpkeepAction};
use howdah_wire::nfs4::compound::{ReplyPlace, ResultHead};
use howdah_wire::nfs4::{SessionId, Status, sequence};
use howdah_wire::xdr::{Encode, Encoder};

/// What a compound does behind SEQUENCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Something that must not run twice, under its own number. Whether its reply is to be kept.
    Change { number: u32, keep: bool },
    /// What the session needs.
    Upkeep(UpkeepAction),
}

impl Body {
    /// The number of a change; 0 for all else.
    pub fn number(self) -> u32 {
        match self {
            Self::Change { number, .. } => number,
            Self::Upkeep(_) => 0,
        }
    }
}

/// A call.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    pub xid: u32,
    pub ticket: Option<CallTicket>,
    pub body: Body,
}

/// What a reply holds besides the results of SEQUENCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Done,
    Exchanged(ExchangedId),
    Created(SessionId, u32),
    Refused(Status),
}

/// A reply.
#[derive(Debug, Clone)]
pub struct Reply {
    pub xid: u32,
    pub results: Vec<u8>,
    pub answer: Answer,
}

/// The results of a compound whose SEQUENCE ended so, and whose next operation ended so, which gives the number of what ran.
pub fn results(sequence: Result<sequence::Success, Status>, next: Option<Status>, number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    let place = ReplyPlace::begin(&mut encoder, b"");
    let status = sequence.err().unwrap_or(Status::OK);
    ResultHead { operation: sequence::OPERATION, status }.encode(&mut encoder);
    if let Ok(success) = sequence {
        success.encode(&mut encoder);
    }
    if let Some(status) = next {
        ResultHead { operation: 22, status }.encode(&mut encoder);
        encoder.u32(number);
    }
    let count = 1 + u32::from(next.is_some());
    place.finish(&mut encoder, next.unwrap_or(status), count);
    bytes
}

/// The results of a compound that was refused before its first operation.
pub fn refusal(status: Status) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    ReplyPlace::begin(&mut encoder, b"").finish(&mut encoder, status, 0);
    bytes
}
