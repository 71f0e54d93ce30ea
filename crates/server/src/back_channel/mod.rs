//! Calls of NFSv4 clients by the server, over connections that the clients opened (RFC 8881 2.10.3.1): a lock that was denied may be
//! free now. One call at a time in each session; what a client did not answer is sent again over its next connection.

mod back_call;
mod back_channels;
mod channel;
mod message;
mod session;

pub use back_channels::{BackChannels, SendRecord};
pub use session::{BackCredentials, BackSession};

#[cfg(test)]
mod tests;
