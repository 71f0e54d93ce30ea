//! RPCSEC_GSS (RFC 2203): contexts of clients, and the check of each call that comes through one. Tokens are another process's
//! affair, behind [`TokenAcceptor`].

mod acceptor;
mod context;
mod contexts;
mod door;
mod figures;
mod refusals;
mod secured;
#[cfg(test)]
mod tests;

pub use acceptor::{AcceptedToken, TokenAcceptor, TokenRefusal};
pub use context::ClientContext;
pub use door::{Checked, GssDoor};
pub use figures::{GssFigures, GssReport};
pub use refusals::ContextRefusal;
pub use secured::{SecuredCall, is_secured};
