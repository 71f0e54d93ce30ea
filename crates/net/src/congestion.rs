//! Congestion controls: which there are, which may be chosen, and which suits which peer.

use std::fs;
use std::io;
use std::os::fd::BorrowedFd;

use howdah_tune::{Algorithm, Setting};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, sockopt};

use crate::address::{canonical, is_local};

/// The one that takes a loss for a loss.
pub const BBR: &str = "bbr";
/// The one for a peer on this host, where bbr only costs throughput. A connection inherits it from its listener, since one
/// that starts with bbr stays paced whatever it is given later (`docs/decisions/0005-hot-path.md`).
pub const LOCAL: &str = "cubic";

/// Those that this host has (`net.ipv4.tcp_available_congestion_control`).
pub fn congestion_controls() -> Vec<String> {
    names("tcp_available_congestion_control")
}

/// Those that anybody may choose (`net.ipv4.tcp_allowed_congestion_control`).
pub fn allowed_congestion_controls() -> Vec<String> {
    names("tcp_allowed_congestion_control")
}

/// Tries to choose one, on a socket that nobody uses.
///
/// # Errors
/// This host does not have it (`NotFound`), or not for us (`PermissionDenied`).
pub fn may_choose_congestion(algorithm: Algorithm) -> io::Result<()> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    Ok(sockopt::set_tcp_congestion(&socket, algorithm.name())?)
}

/// Lets a connection send by one; automatic: by what suits its peer.
pub(crate) fn choose(socket: BorrowedFd<'_>, algorithm: Setting<Algorithm>) -> io::Result<()> {
    if let Setting::Fixed(algorithm) = algorithm {
        return Ok(sockopt::set_tcp_congestion(socket, algorithm.name())?);
    }
    let suitable = if is_to_this_host(socket)? { LOCAL } else { BBR };
    if sockopt::set_tcp_congestion(socket, suitable).is_ok() {
        return Ok(());
    }
    match names("tcp_congestion_control").first() {
        Some(host) => Ok(sockopt::set_tcp_congestion(socket, host)?),
        None => Ok(()),
    }
}

fn is_to_this_host(socket: BorrowedFd<'_>) -> io::Result<bool> {
    let known = |address: rustix::net::SocketAddrAny| {
        std::net::SocketAddr::try_from(address).map(canonical).map_err(|_| Errno::AFNOSUPPORT)
    };
    let peer = rustix::net::getpeername(socket)?.ok_or(Errno::NOTCONN)?;
    let (peer, own) = (known(peer)?, known(rustix::net::getsockname(socket)?)?);
    Ok(is_local(peer.ip(), own.ip()))
}

fn names(file: &str) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/sys/net/ipv4/{file}")).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_anybody_may_choose_can_be_chosen_and_what_is_not_there_cannot() {
        for name in allowed_congestion_controls() {
            let algorithm = Algorithm::parse(&name).expect("a name of the kernel's");
            may_choose_congestion(algorithm).expect("anybody may");
            assert!(congestion_controls().contains(&name), "{name}");
        }
        let error = may_choose_congestion(Algorithm::parse("nobody-has-it").expect("a name"));
        assert!(error.is_err());
    }

    #[test]
    fn a_live_connection_takes_one_and_goes_back_to_what_suits_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("any port");
        let stream = TcpStream::connect(listener.local_addr().expect("its address")).expect("connecting");
        let own = || sockopt::tcp_congestion(&stream).expect("it has one");
        choose(stream.as_fd(), Setting::Auto).expect("something suits");
        let suitable = own();
        for name in allowed_congestion_controls() {
            let algorithm = Algorithm::parse(&name).expect("a name of the kernel's");
            choose(stream.as_fd(), Setting::Fixed(algorithm)).expect("anybody may");
            assert_eq!(own(), name);
        }
        choose(stream.as_fd(), Setting::Auto).expect("something suits");
        assert_eq!(own(), suitable);
    }
}
