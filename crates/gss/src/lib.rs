//! Kerberos 5 for RPCSEC_GSS, without tickets: what both ends of an established context do to each call.
//!
//! A [`GssContext`] makes and checks MIC and Wrap tokens (RFC 4121) of enctypes 17 to 20 in the caller's buffers, and a
//! [`SequenceWindow`] finds calls that come twice. Neither has a lock: threads share them. Keys come from a [`LucidContext`],
//! which another process exports. It knows keys and bytes, and no ticket, socket, file or clock.

mod context;
mod derivation;
mod enctype;
mod error;
mod fold;
mod header;
#[cfg(test)]
mod hex;
mod integrity;
mod lucid;
mod mechanism;
mod mic;
mod sealing;
mod window;

pub use context::{GssContext, WRAP_HEAD};
pub use enctype::Enctype;
pub use error::TokenError;
pub use lucid::{ContextSide, LucidContext, LucidError, SessionKey};
pub use mechanism::{InitialToken, MECHANISM};
pub use mic::{MIC_MAX, Mic};
pub use window::{MAXIMUM_SEQUENCE, SequenceRefusal, SequenceWindow, WINDOW};
