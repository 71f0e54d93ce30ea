//! What goes around a call when it is sent: its place in a session, and what protects it.

/// What a call holds of a session while it is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallTicket {
    /// The slot. No two calls under way have the same.
    pub slot: u32,
    /// The number of the call among those of its slot.
    pub number: u32,
}

/// The tickets of a channel: calls beyond them wait. A channel without a session has as many calls in flight as its window says.
pub trait CallSession: Send {
    /// Whether a call may go out now.
    fn has_ticket(&self) -> bool;

    /// The ticket of a call that goes out. Only after [`CallSession::has_ticket`].
    fn take(&mut self) -> CallTicket;

    /// A call is over: it was answered, or given up.
    fn release(&mut self, ticket: CallTicket, is_answered: bool);
}

/// Writes a ticket into the encoded arguments of its call.
pub type TicketStamp = fn(CallTicket, &mut [u8]);

/// A call that is about to be sent, as it would go without protection.
#[derive(Debug, Clone, Copy)]
pub struct Unprotected<'a> {
    /// Matches the reply to the call.
    pub xid: u32,
    /// The header, from the xid to the verifier.
    pub header: &'a [u8],
    /// The arguments in front of the payload.
    pub arguments: &'a [u8],
    /// The payload, without its padding.
    pub payload: &'a [u8],
    /// The arguments behind the payload.
    pub tail: &'a [u8],
}

/// Protects calls. Asked at every send of a call, also of one that is sent again: what it adds may be used once.
pub trait CallProtection: Send + Sync {
    /// Appends to `before` what goes in front of the payload, header and arguments included, and to `after` what follows the padding
    /// of the payload, the tail included.
    fn protect(&self, call: &Unprotected<'_>, before: &mut Vec<u8>, after: &mut Vec<u8>);
}
