//! A call as a handler sees it: who asks, for what, with which arguments. It must not know how the bytes came.

use std::io;

pub use howdah_net::{Ends, Peer, Token, Transport, TransportSecurity};
use howdah_vfs::Waiting;
use howdah_wire::rpc::CallHeader;
use howdah_wire::xdr::Decoder;

use crate::exports::KerberosPrincipal;
use crate::outline::Outline;

/// One call.
pub struct Request<'r, 'm> {
    /// Program, version, procedure, credentials.
    pub header: &'r CallHeader<'m>,
    /// Whose context a call of RPCSEC_GSS came by, once that is known to be its sender's.
    pub principal: Option<&'r KerberosPrincipal>,
    /// The result is signed or encrypted, and so must be in memory.
    pub is_protected: bool,
    /// What the door has read of the arguments.
    pub outline: &'r Outline<'m>,
    /// Stands at the procedure's arguments.
    pub arguments: Decoder<'m>,
    /// Who asks, and where.
    pub peer: &'r Peer,
    /// The connection that it came over, if over one.
    pub line: Option<Token>,
    /// Too many calls wait for storage of its export already: it is to be asked again later.
    pub is_put_off: bool,
    /// The bulk data of a WRITE that is still in the socket: then `arguments` ends right before the data's bytes,
    /// after their length.
    pub waiting: Option<&'r mut dyn BulkData>,
}

/// Bulk data that waits in the socket, and the arguments behind it.
pub trait BulkData: Waiting {
    /// The arguments behind the data. They are received now, so the data must have been taken; what was not is lost.
    ///
    /// # Errors
    /// They cannot be received: the connection is of no use any more.
    fn behind(&mut self) -> io::Result<&[u8]> {
        Ok(&[])
    }
}
