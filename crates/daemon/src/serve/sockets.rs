//! The sockets to serve: those of the service manager if it brings any, else our own.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;

use anyhow::{Context, Error, Result, anyhow, bail};
use howdah_config::{DEFAULT_PORT, ServerConfig};
use howdah_server::{BindError, Sockets};
use howdah_tls::ServerTls;
use rustix::net::{SocketType, sockopt};

use crate::host::{explain_taken_port, inherited_sockets};

/// Opens or takes over what to listen on.
pub fn sockets(config: &ServerConfig) -> Result<Sockets> {
    let inherited = inherited_sockets()?;
    if inherited.is_empty() {
        let udp = config.udp.then_some(&config.udp_sockets);
        return Sockets::bind_with(&config.listen, udp).map_err(explained);
    }
    tracing::info!(
        count = inherited.len(),
        "using the sockets of the service manager; `listen` and UDP socket settings have no effect"
    );
    let mut sockets = Sockets::default();
    for socket in inherited {
        adopt(&mut sockets, socket).context("taking over a socket of the service manager")?;
    }
    if sockets.tcp.is_empty() {
        bail!(
            "taking over the sockets of the service manager: no TCP socket among them (ListenStream= in the unit)"
        );
    }
    Ok(sockets)
}

/// Binds the port of QUIC.
pub fn bind_quic(sockets: &mut Sockets, address: SocketAddr, tls: &ServerTls) -> Result<()> {
    sockets.bind_quic(&[address], tls).map_err(explained)
}

/// Opens or takes over what to listen on over TCP alone.
pub fn listeners(addresses: &[SocketAddr]) -> Result<Vec<howdah_net::Listener>> {
    let mut sockets = Sockets::default();
    for socket in inherited_sockets()? {
        adopt(&mut sockets, socket).context("taking over a socket of the service manager")?;
    }
    match sockets.tcp.is_empty() {
        true => Ok(Sockets::bind_with(addresses, None).map_err(explained)?.tcp),
        false => Ok(sockets.tcp),
    }
}

fn adopt(sockets: &mut Sockets, socket: OwnedFd) -> Result<()> {
    match sockopt::socket_type(&socket)? {
        SocketType::STREAM => sockets.tcp.push(howdah_net::Listener::from_socket(TcpListener::from(socket))?),
        SocketType::DGRAM => sockets.udp.push(howdah_net::UdpSocket::from_socket(UdpSocket::from(socket))?),
        other => bail!("it is neither TCP nor UDP ({other:?})"),
    }
    Ok(())
}

/// What to do about an address that cannot be bound.
fn explained(error: BindError) -> Error {
    let (address, kind) = (error.address, error.cause.kind());
    let advice = match kind {
        ErrorKind::AddrInUse => explain_taken_port(address),
        ErrorKind::PermissionDenied => {
            let usual = SocketAddr::new(address.ip(), DEFAULT_PORT);
            format!("ports below 1024 are root's; take one above, as in --listen {usual}")
        }
        ErrorKind::AddrNotAvailable => {
            "this machine has no such address; `ip address` shows those it has".to_owned()
        }
        ErrorKind::InvalidInput if lacks_interface(address) => {
            format!(
                "a link-local address needs its interface, as in --listen [{}%eth0]:{}",
                address.ip(),
                address.port()
            )
        }
        // It tells its cause itself.
        _ => return anyhow!("{error}"),
    };
    anyhow!("{error}: {advice}")
}

/// Whether the kernel cannot tell which interface is meant.
fn lacks_interface(address: SocketAddr) -> bool {
    matches!(address, SocketAddr::V6(address) if address.ip().is_unicast_link_local() && address.scope_id() == 0)
}
