//! Asking a server's portmapper on which port a program is: portmap version 2 over IPv4, rpcbind version 3 over IPv6,
//! which version 2 knows nothing of.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use howdah_vfs::Caller;
use howdah_wire::portmap::{self, Mapping, Protocol, getport};
use howdah_wire::rpcbind::{self, Binding, Network, Text, UniversalAddress, getaddr};
use howdah_wire::xdr::Decode;

use super::service::{Service, results};
use crate::channel::{CallError, Pending, Transport};

/// A server's portmapper.
pub(super) struct Portmapper {
    service: Service,
    over_ipv6: bool,
}

impl Portmapper {
    /// Connects to it.
    pub(super) fn open(address: SocketAddr, caller: Caller, patience: Duration) -> Result<Self, CallError> {
        let over_ipv6 = matches!(address.ip().to_canonical(), IpAddr::V6(_));
        let version = if over_ipv6 { rpcbind::VERSION_3 } else { portmap::VERSION };
        let program = (portmap::PROGRAM, version);
        let service = Service::open(address, Transport::Tcp, program, caller, patience, None)?;
        Ok(Self { service, over_ipv6 })
    }

    /// Asks for the port of a program. Several questions under way at once take one round trip.
    pub(super) fn ask(&self, program: u32, version: u32, transport: Transport) -> PortQuestion {
        let protocol = match transport {
            // No portmapper knows of QUIC.
            Transport::Tcp | Transport::Quic => Protocol::TCP,
            Transport::Udp => Protocol::UDP,
        };
        let pending = if self.over_ipv6 {
            let network = Network::new(protocol, true).map_or("", Network::id);
            let binding = Binding {
                program,
                version,
                network: Text(network.as_bytes()),
                address: Text(b""),
                owner: Text(b""),
            };
            self.service.start(getaddr::PROCEDURE, &getaddr::Arguments { binding })
        } else {
            let mapping = Mapping { program, version, protocol, port: 0 };
            self.service.start(getport::PROCEDURE, &getport::Arguments { mapping })
        };
        PortQuestion { pending, over_ipv6: self.over_ipv6 }
    }
}

/// A question for a port that is under way.
pub(super) struct PortQuestion {
    pending: Pending,
    over_ipv6: bool,
}

impl PortQuestion {
    /// The port; `None` if the program is not registered.
    pub(super) fn port(self) -> Result<Option<u16>, CallError> {
        let port = results(self.pending, |decoder| {
            Ok(if self.over_ipv6 {
                UniversalAddress::parse(getaddr::Reply::decode(decoder)?.address.0)
                    .map(|address| address.0.port())
            } else {
                u16::try_from(getport::Reply::decode(decoder)?.port).ok()
            })
        })?;
        Ok(port.filter(|&port| port != 0))
    }
}
