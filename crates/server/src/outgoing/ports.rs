//! On which port a program of another host listens: its portmapper knows, and is asked no more often than need be.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use crate::locks::Mutex;
use howdah_wire::portmap::{self, Mapping, Protocol, getport};
use howdah_wire::rpcbind::{self, Binding, Network, Text, UniversalAddress, getaddr};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::call::{CallFailure, Called, Route, call};
use crate::Transport;

/// Where a portmapper listens.
pub const PORTMAPPER: u16 = portmap::PORT;
/// How long a port that was told holds.
const AGE: Duration = Duration::from_secs(60);
/// How long a portmapper is asked over one transport.
const PATIENCE: Duration = Duration::from_secs(2);

/// The ports of programs of other hosts.
#[derive(Debug)]
pub struct ClientPorts {
    portmapper: u16,
    known: Mutex<HashMap<(IpAddr, u32), Known>>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    transport: Transport,
    port: u16,
    since: Instant,
}

impl ClientPorts {
    /// None is known yet. Portmappers listen on this port.
    pub fn new(portmapper: u16) -> Self {
        Self { portmapper, known: Mutex::default() }
    }

    /// Calls a program of a host from this address of ours, over the transport that is liked best or else the other one. A port that
    /// was told earlier may be another one now: then the portmapper is asked again.
    ///
    /// # Errors
    /// Why the call has no result; also that the host's portmapper is not reached, or does not know the program.
    pub fn call<T>(
        &self,
        from: Option<IpAddr>,
        host: IpAddr,
        program: (u32, u32),
        liked: Transport,
        call: impl Fn(&Route) -> Result<T, CallFailure>,
    ) -> Result<T, CallFailure> {
        let route =
            |known: Known| Route { from, to: SocketAddr::new(host, known.port), transport: known.transport };
        if let Some(known) = self.known(host, program.0) {
            match call(&route(known)) {
                Err(failure) if !failure.may_have_run() => self.forget(host, program.0),
                outcome => return outcome.inspect_err(|_| self.forget(host, program.0)),
            }
        }
        let known = self.find(from, host, program, liked)?;
        call(&route(known)).inspect_err(|_| self.forget(host, program.0))
    }

    /// Asks for a program's port, and keeps it.
    fn find(
        &self,
        from: Option<IpAddr>,
        host: IpAddr,
        (program, version): (u32, u32),
        liked: Transport,
    ) -> Result<Known, CallFailure> {
        let liked = if liked == Transport::Quic { Transport::Tcp } else { liked };
        let other = if liked == Transport::Tcp { Transport::Udp } else { Transport::Tcp };
        for transport in [liked, other] {
            if let Some(port) = self.ask(from, host, (program, version), transport)? {
                let known = Known { transport, port, since: Instant::now() };
                self.known.lock().insert((host, program), known);
                return Ok(known);
            }
        }
        Err(CallFailure::Unregistered)
    }

    fn forget(&self, host: IpAddr, program: u32) {
        self.known.lock().remove(&(host, program));
    }

    fn known(&self, host: IpAddr, program: u32) -> Option<Known> {
        let mut known = self.known.lock();
        known.retain(|_, known| known.since.elapsed() < AGE);
        known.get(&(host, program)).copied()
    }

    /// Asks the portmapper, in a datagram, or over a connection if none is answered.
    fn ask(
        &self,
        from: Option<IpAddr>,
        host: IpAddr,
        program: (u32, u32),
        transport: Transport,
    ) -> Result<Option<u16>, CallFailure> {
        let to = SocketAddr::new(host, self.portmapper);
        let by = |transport| Route { from, to, transport };
        let (called, arguments) = question(program, transport, host.is_ipv6());
        let answer = call(&by(Transport::Udp), called, &arguments, PATIENCE)
            .or_else(|_| call(&by(Transport::Tcp), called, &arguments, PATIENCE));
        // What the portmapper did with a question changes nothing: the program itself was not called.
        let answer = answer.map_err(|failure| match failure {
            CallFailure::Unanswered(error) => CallFailure::Unreached(error),
            failure => failure,
        })?;
        Ok(port(&answer, host.is_ipv6()))
    }
}

/// GETPORT of portmap version 2, or GETADDR of rpcbind version 3 over IPv6, which version 2 knows nothing of.
fn question((program, version): (u32, u32), transport: Transport, is_ipv6: bool) -> (Called, Vec<u8>) {
    let protocol = match transport {
        Transport::Tcp | Transport::Quic => Protocol::TCP,
        Transport::Udp => Protocol::UDP,
    };
    let portmap = |version, procedure| Called { program: portmap::PROGRAM, version, procedure };
    if !is_ipv6 {
        let mapping = Mapping { program, version, protocol, port: 0 };
        let arguments = Encoder::to_vec(&getport::Arguments { mapping });
        return (portmap(portmap::VERSION, getport::PROCEDURE), arguments);
    }
    let network = Network::new(protocol, true).map_or("", Network::id);
    let binding =
        Binding { program, version, network: Text(network.as_bytes()), address: Text(b""), owner: Text(b"") };
    let arguments = Encoder::to_vec(&getaddr::Arguments { binding });
    (portmap(rpcbind::VERSION_3, getaddr::PROCEDURE), arguments)
}

fn port(answer: &[u8], is_ipv6: bool) -> Option<u16> {
    let mut decoder = Decoder::new(answer);
    let port = if is_ipv6 {
        UniversalAddress::parse(getaddr::Reply::decode(&mut decoder).ok()?.address.0)?.0.port()
    } else {
        u16::try_from(getport::Reply::decode(&mut decoder).ok()?.port).ok()?
    };
    (port != 0).then_some(port)
}
