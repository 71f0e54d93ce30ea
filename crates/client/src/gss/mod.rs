//! Kerberos (RPCSEC_GSS, RFC 2203), the client's side: a context for each user, by which each sending of a call is signed, and each reply
//! checked. Tickets are the business of a [`TicketSource`].

mod context;
mod establish;
mod init;
mod plan;
mod protected_call;
mod tickets;
mod users;

pub use plan::ContextPlan;
pub use tickets::{EstablishedContext, TicketSource, TokenExchange};
pub use users::UserContexts;
