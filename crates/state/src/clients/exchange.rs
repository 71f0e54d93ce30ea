//! EXCHANGE_ID: whether a client is new, the same, or has restarted (RFC 8881 18.35.4).

use super::ClientRecord;
use crate::error::StateError;
use crate::ids::Principal;

/// What EXCHANGE_ID comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// The confirmed client, as it is (cases 2 and 6).
    Same,
    /// A new unconfirmed client; a confirmed one stays until then (cases 1, 4 and 5).
    New,
    /// A new unconfirmed client in place of another principal's that has nothing (case 3).
    Replace,
}

/// What EXCHANGE_ID comes to. `confirmed` is the client of that owner, with whether it has state under a lease.
///
/// # Errors
///
/// [`StateError::ClientIdInUse`] (case 3), [`StateError::NoEntry`] (7), [`StateError::NotSame`] (8), [`StateError::Permission`] (9).
pub fn decide(
    confirmed: Option<(&ClientRecord, bool)>,
    principal: &Principal,
    verifier: [u8; 8],
    update: bool,
) -> Result<Exchange, StateError> {
    let Some((record, has_state)) = confirmed else {
        return if update { Err(StateError::NoEntry) } else { Ok(Exchange::New) };
    };
    // The principal comes first: else anybody could evict anybody.
    match (update, record.principal == *principal, record.verifier == verifier) {
        (_, true, true) => Ok(Exchange::Same),
        (false, true, false) => Ok(Exchange::New),
        (false, false, _) if has_state => Err(StateError::ClientIdInUse),
        (false, false, _) => Ok(Exchange::Replace),
        (true, true, false) => Err(StateError::NotSame),
        (true, false, _) => Err(StateError::Permission),
    }
}
