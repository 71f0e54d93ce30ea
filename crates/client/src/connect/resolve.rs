//! From the name of a host to its addresses.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

/// The addresses of a host with this port, in the order in which the system wants them tried. The one place here that may
/// ask a name server.
///
/// # Errors
/// The name has no address, or nobody says so in time.
pub fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let addresses: Vec<_> = (host, port).to_socket_addrs()?.collect();
    if addresses.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    }
    Ok(addresses)
}
