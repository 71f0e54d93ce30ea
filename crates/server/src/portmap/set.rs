//! SET and UNSET: refused to everybody, since nothing is registered here but this server itself (RFC 1833 3.2, 2.2.1).

use howdah_wire::portmap::{set as port_set, unset as port_unset};
use howdah_wire::rpcbind::{set as address_set, unset as address_unset};
use howdah_wire::xdr::Decode;

use super::Portmap;
use crate::program::Refusal;
use crate::{Reply, Request};

/// Answers SET of version 2.
pub fn set_port(_: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    port_set::Arguments::decode(&mut request.arguments)?;
    reply.write(&port_set::Reply { done: false });
    Ok(())
}

/// Answers UNSET of version 2.
pub fn unset_port(_: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    port_unset::Arguments::decode(&mut request.arguments)?;
    reply.write(&port_unset::Reply { done: false });
    Ok(())
}

/// Answers SET of versions 3 and 4.
pub fn set(_: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    address_set::Arguments::decode(&mut request.arguments)?;
    reply.write(&address_set::Reply { done: false });
    Ok(())
}

/// Answers UNSET of versions 3 and 4.
pub fn unset(_: &Portmap, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    address_unset::Arguments::decode(&mut request.arguments)?;
    reply.write(&address_unset::Reply { done: false });
    Ok(())
}
