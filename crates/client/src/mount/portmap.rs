//! Asking a server's portmapper on which port a program is: portmap version 2 over IPv4, rpcbind version 3 over IPv6,
//! which version 2 knows nothing of.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use howdah_vfs::Caller;
use howdah_wire::portmap::{self, Mapping, Protocol, getport};
use howdah_wire::rpcbind::{self, Binding, Network, Text, UniversalAddress, getaddr};
use howdah_wire::xdr::Decode;

use super::service::Service;
use crate::channel::{CallError, Transport};

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

    /// The port of a program; `None` if it is not registered.
    pub(super) fn port_of(
        &self,
        program: u32,
        version: u32,
        transport: Transport,
    ) -> Result<Option<u16>, CallError> {
        let protocol = match transport {
            Transport::Tcp => Protocol::TCP,
            Transport::Udp => Protocol::UDP,
        };
        let port = if self.over_ipv6 {
            self.get_address(program, version, protocol)?
        } else {
            self.get_port(Mapping { program, version, protocol, port: 0 })?
        };
        Ok(port.filter(|&port| port != 0))
    }

    fn get_port(&self, mapping: Mapping) -> Result<Option<u16>, CallError> {
        let arguments = getport::Arguments { mapping };
        self.service.call(getport::PROCEDURE, &arguments, |decoder| {
            Ok(u16::try_from(getport::Reply::decode(decoder)?.port).ok())
        })
    }

    fn get_address(&self, program: u32, version: u32, protocol: Protocol) -> Result<Option<u16>, CallError> {
        let network = Network::new(protocol, true).map_or("", Network::id);
        let binding = Binding {
            program,
            version,
            network: Text(network.as_bytes()),
            address: Text(b""),
            owner: Text(b""),
        };
        self.service.call(getaddr::PROCEDURE, &getaddr::Arguments { binding }, |decoder| {
            let address = UniversalAddress::parse(getaddr::Reply::decode(decoder)?.address.0);
            Ok(address.map(|address| address.0.port()))
        })
    }
}
