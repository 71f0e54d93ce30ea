//! A call as a handler sees it: who asks, for what, with which arguments. It must not know how the bytes came.

pub use howdah_net::{Ends, Peer, Transport, TransportSecurity};
use howdah_vfs::Waiting;
use howdah_wire::rpc::CallHeader;
use howdah_wire::xdr::Decoder;

/// One call.
pub struct Request<'r, 'm> {
    /// Program, version, procedure, credentials.
    pub header: &'r CallHeader<'m>,
    /// Stands at the procedure's arguments.
    pub arguments: Decoder<'m>,
    /// Who asks, and where.
    pub peer: &'r Peer,
    /// Too many calls wait for storage of its export already: it is to be asked again later.
    pub is_put_off: bool,
    /// The bulk data of a WRITE that is still in the socket: then `arguments` ends right before the data's bytes,
    /// after their length.
    pub waiting: Option<&'r mut dyn Waiting>,
}
