//! One call to make.

use std::fmt;
use std::sync::Arc;

use howdah_rpc::client::envelope::{CallProtection, TicketStamp};
use howdah_rpc::client::{Class, ReceiveInto, ReplaySafety};
use howdah_wire::rpc::Credentials;
use howdah_wire::xdr::{Encode, Encoder};

use super::{CallError, Payload};

/// A call.
pub struct Request<'a> {
    /// The program called.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure of that version.
    pub procedure: u32,
    /// Who calls.
    pub credentials: Credentials<'a>,
    /// The arguments, up to the payload.
    pub arguments: &'a dyn Encode,
    /// Sent right after the arguments and padded, not copied: the data of a WRITE without its length.
    pub payload: Option<Payload>,
    /// The arguments behind the payload.
    pub tail: Option<&'a dyn Encode>,
    /// Writes the ticket of the channel's session into the arguments, where the call has one.
    pub stamp: Option<TicketStamp>,
    /// Protects the call each time that it is sent. A call that cannot be protected ends with this error, and is not sent.
    pub protection: Result<Option<Arc<dyn CallProtection>>, CallError>,
    /// Where the data of the reply goes.
    pub receive: Option<ReceiveInto>,
    /// What kind of call it is.
    pub class: Class,
    /// Whether it may run twice.
    pub replay: ReplaySafety,
    /// Once it is answered, the server may call over its connection.
    pub invites_calls: bool,
    /// Hears of an answer that comes after the caller gave up. Such answers come only in a session.
    pub on_late: Option<LateAnswer>,
}

/// Takes results.
type Hear = dyn Fn(&[u8]) + Send + Sync;

/// Hears the results of a call whose caller has given up, on the thread that receives: it must not wait.
#[derive(Clone)]
pub struct LateAnswer(pub Arc<Hear>);

impl fmt::Debug for LateAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LateAnswer")
    }
}

/// No arguments.
struct Nothing;

impl Encode for Nothing {
    fn encode(&self, _: &mut Encoder<'_>) {}
}

impl<'a> Request<'a> {
    /// NULL, which each program has, takes nothing, gives nothing, and is answered at once (RFC 5531 12.1).
    pub fn null(program: u32, version: u32) -> Self {
        Self {
            program,
            version,
            procedure: 0,
            credentials: Credentials::None,
            arguments: &Nothing,
            payload: None,
            tail: None,
            stamp: None,
            protection: Ok(None),
            receive: None,
            class: Class::Attributes,
            replay: ReplaySafety::Idempotent,
            invites_calls: false,
            on_late: None,
        }
    }

    /// Bytes of bulk data that it moves, or may.
    pub(super) fn volume(&self) -> usize {
        let sent = self.payload.as_ref().map_or(0, Payload::len);
        sent + self.receive.as_ref().map_or(0, |receive| receive.most)
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, version, procedure, class, replay, .. } = self;
        write!(
            formatter,
            "procedure {procedure} of program {program} version {version} ({class:?}, {replay:?})"
        )
    }
}
