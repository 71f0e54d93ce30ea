//! What the server gets.

use std::sync::Arc;

use crate::ids::{ClientId, OpenId, StateId};
use crate::sessions::LiveSession;

/// What EXCHANGE_ID gives (RFC 8881 18.35.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeAnswer {
    /// `eir_clientid`.
    pub client: ClientId,
    /// `eir_sequenceid`: of the next CREATE_SESSION.
    pub sequence: u32,
    /// `EXCHGID4_FLAG_CONFIRMED_R`.
    pub is_confirmed: bool,
}

/// What CREATE_SESSION gives.
#[derive(Debug)]
pub enum SessionAnswer<S> {
    /// A new session. The server encodes the result and hands it to [`NfsState::answer_created`](crate::NfsState::answer_created).
    Created(Arc<LiveSession<S>>),
    /// A retry: the bytes that were remembered.
    Replay(Arc<[u8]>),
}

/// What OPEN gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenAnswer {
    /// The open's stateid after it.
    pub stateid: StateId,
    /// The open's name.
    pub open: OpenId,
    /// Whether the owner had not open the file before. Else access and deny mode were added to what it had.
    pub is_new: bool,
}
