//! Who a client is, and who calls about it.

use std::net::IpAddr;

use crate::ids::Principal;

/// Who a client says that it is (RFC 8881 18.35.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientIdentity<'a> {
    /// `co_ownerid`: the same after a restart of the client.
    pub owner: &'a [u8],
    /// `co_verifier`: another after a restart of the client.
    pub verifier: [u8; 8],
    /// Who sent the call.
    pub principal: &'a Principal,
    /// Where from.
    pub peer: IpAddr,
    /// The network of that address: its share of the bounds, and where CREATE_SESSION must come from.
    pub network: IpAddr,
    /// Our address that it calls: a server that takes this address over takes over the client too.
    pub server: IpAddr,
}

/// Who sends a call that names a client by its id. Ids can be guessed: the caller must be the one who sent EXCHANGE_ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientCaller<'a> {
    /// Who sent the call.
    pub principal: &'a Principal,
    /// The network of the address that it came from.
    pub network: IpAddr,
}

impl<'a> ClientIdentity<'a> {
    /// The same as who sends calls about the client.
    pub fn caller(&self) -> ClientCaller<'a> {
        ClientCaller { principal: self.principal, network: self.network }
    }
}
