//! NFSv3 by somebody else: a file system behind a server, spoken to with the message types and the codec of the crate
//! nfs3_types, over small blocking transports. For tests only: it judges the server it talks to, so whatever breaks the
//! protocol is a panic that says what was wrong.
//!
//! Shares no line with `howdah-wire`. Each answer must also be the canonical encoding of what it says: it is encoded
//! again and compared byte for byte.

mod channel;
mod client;
mod convert;
mod data;
mod directory;
mod file_system;
mod handles;
mod information;
mod make;
mod mount;
mod status;
mod transport;

pub use client::OtherClient;
pub use transport::Transport;
