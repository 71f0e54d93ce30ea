//! What goes around a call when it is sent: its place in a session, and what protects it and its reply.

use std::any::Any;
use std::ops::Range;
use std::time::Duration;

use howdah_wire::rpc::{AuthStatus, INTEGRITY_HEAD};

/// What a call holds of a session while it is under way. A call that is sent again keeps its ticket, also when there is another
/// session by then: the server refuses it, and its caller makes it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallTicket {
    /// The session.
    pub session: [u8; 16],
    /// The slot. No two calls under way have the same.
    pub slot: u32,
    /// The number of the call among those of its slot.
    pub number: u32,
    /// The highest slot in use when this one was taken, which may be this one.
    pub highest_slot: u32,
}

/// Which ticket a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TicketNeed {
    /// None. On a channel with a session such a call is sent at once: the session may be made by it.
    None,
    /// One of those for all calls, in order.
    #[default]
    Usual,
    /// One for the upkeep of the session: in front of all others, also while they may have none.
    Upkeep,
}

/// How often a call was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSends {
    /// So often. After more than once, that the server refuses it does not say that it did not run.
    pub count: u32,
    /// When it was last.
    pub last: Duration,
}

/// How a call with a ticket ended.
#[derive(Debug, Clone, Copy)]
pub enum CallEnd<'r> {
    /// The server ran it, and these are the results, at least up to bulk data.
    Ran(&'r [u8]),
    /// The server did not look at it: it never arrived whole, or was refused as a call.
    NotRun,
    /// It may have run, and no reply to it will be understood.
    Unknown,
}

/// What becomes of a call whose ticket was given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterCall {
    /// It is over.
    Over,
    /// It still has its ticket, and is sent again after this time: the server runs it already, and that reply is lost.
    SendAgain(Duration),
}

/// The tickets of a channel: calls beyond them wait. A channel without a session has as many calls in flight as its window says.
pub trait CallSession: Any + Send {
    /// Whether a call of this need may go out now.
    fn has_ticket(&self, need: TicketNeed) -> bool;

    /// The ticket of a call that goes out. Only after [`CallSession::has_ticket`].
    fn take(&mut self, need: TicketNeed, now: Duration) -> CallTicket;

    /// A call ended. One whose caller gave up has not: its ticket is held until the server answers.
    fn release(
        &mut self,
        ticket: &CallTicket,
        end: CallEnd<'_>,
        sends: CallSends,
        now: Duration,
    ) -> AfterCall;

    /// Whether the server takes its calls over the first lane only: no other is connected again.
    fn has_one_lane(&self) -> bool {
        false
    }

    /// Whether there is something to do for the owner of the session since it was last asked.
    fn wants_owner(&mut self) -> bool;
}

/// Writes a ticket into the encoded arguments of its call.
#[derive(Debug, Clone, Copy)]
pub struct TicketStamp {
    /// Writes it.
    pub write: fn(&CallTicket, &mut [u8]),
    /// Which one the call needs.
    pub need: TicketNeed,
}

/// What of a reply its protection covers, and so how its results arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultsCover {
    /// Nothing: the reply is taken as it is.
    #[default]
    None,
    /// The header: its verifier is checked (RFC 2203 5.3.3.2).
    Header,
    /// Header and results: these are signed (RFC 2203 5.3.2.2).
    Signed,
    /// Header and results: these are encrypted (RFC 2203 5.3.2.3).
    Sealed,
}

impl ResultsCover {
    /// Bytes in front of results that can be read as they arrive.
    pub(super) fn head(self) -> usize {
        if self == Self::Signed { INTEGRITY_HEAD } else { 0 }
    }
}

/// A reply whose protection is to be removed.
#[derive(Debug)]
pub struct CoveredReply<'r> {
    /// The token of its verifier; empty if it has none.
    pub mic: &'r [u8],
    /// The results as they arrived. None if only the verifier counts: the call was not run, or headers alone are protected.
    pub results: Option<&'r mut [u8]>,
    /// The data that was taken out of the results with its padding, and where it was.
    pub data: Option<(usize, &'r [u8])>,
}

/// What a call without results means for what protects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeniedCall {
    /// The call is over.
    Over,
    /// The server does not know the keys. The call may be made again, with others.
    NewKeys,
}

/// A call that is about to be sent, as it would go without protection.
#[derive(Debug, Clone, Copy)]
pub struct Unprotected<'a> {
    /// Matches the reply to the call.
    pub xid: u32,
    /// The header, from the xid to the verifier.
    pub header: &'a [u8],
    /// The arguments in front of the payload.
    pub arguments: &'a [u8],
    /// The payload, without its padding. Empty for a protection that covers headers alone: the payload need not lie in memory then.
    pub payload: &'a [u8],
    /// The arguments behind the payload.
    pub tail: &'a [u8],
}

/// Protects a call and its reply.
pub trait CallProtection: Send + Sync {
    /// Asked at every send of a call, also of one that is sent again: what it adds may be used once. Appends to `before` what goes in
    /// front of the payload, header and arguments included, and to `after` what follows the padding of the payload, the tail included.
    /// One that seals appends all of it to `before`, the payload included, which then is not sent a second time.
    fn protect(&self, call: &Unprotected<'_>, before: &mut Vec<u8>, after: &mut Vec<u8>);

    /// What of the reply it covers.
    fn cover(&self) -> ResultsCover {
        ResultsCover::None
    }

    /// Checks an accepted reply, and decrypts its results in place. Gives where the plain results are in them; none if the reply is
    /// not genuine, and nothing of it may be used.
    fn open(&self, _: CoveredReply<'_>) -> Option<Range<usize>> {
        None
    }

    /// The server denied the call. Nothing proves that the server said so.
    fn on_denied(&self, _: AuthStatus) -> DeniedCall {
        DeniedCall::Over
    }
}
