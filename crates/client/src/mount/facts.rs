//! What a server says to anyone, without a mount: its exports, and its clock. All of its programs are on one port.

use std::net::SocketAddr;
use std::time::Duration;

use howdah_tls::ClientTls;
use howdah_vfs::Caller;
use howdah_wire::mount;
use howdah_wire::rpcbind::{self, gettime};
use howdah_wire::xdr::Decode;

use super::export::exports;
use super::service::Service;
use crate::channel::{CallError, Transport};

/// Who is asked.
#[derive(Debug, Clone)]
pub struct Inquiry {
    /// Where all programs of the server are.
    pub address: SocketAddr,
    /// Who asks.
    pub caller: Caller,
    /// How long one answer may take.
    pub patience: Duration,
    /// How calls are protected.
    pub tls: Option<ClientTls>,
}

impl Inquiry {
    /// The paths that it exports.
    ///
    /// # Errors
    /// It does not answer, or does not serve MOUNT version 3.
    pub fn exports(&self) -> Result<Vec<Vec<u8>>, CallError> {
        exports(&self.service((mount::PROGRAM, mount::VERSION_3))?)
    }

    /// What its clock shows, in seconds since 1970 (GETTIME of rpcbind).
    ///
    /// # Errors
    /// It does not answer, or does not serve rpcbind version 3.
    pub fn clock(&self) -> Result<u64, CallError> {
        let service = self.service((rpcbind::PROGRAM, rpcbind::VERSION_3))?;
        service.call(gettime::PROCEDURE, &(), |decoder| Ok(gettime::Reply::decode(decoder)?.seconds.into()))
    }

    fn service(&self, program: (u32, u32)) -> Result<Service, CallError> {
        let (caller, tls) = (self.caller.clone(), self.tls.clone());
        Ok(Service::open(self.address, Transport::Tcp, program, caller, self.patience, tls)?)
    }
}
