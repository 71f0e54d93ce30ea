//! The congestion control of our own sockets. A host's default may be one that paces, which costs two or three times
//! the throughput over loopback; so the load and the floors choose one that does not, as the server does.
//!
//! It must be chosen before there is a connection (on the listener, or before connecting): once bbr was in charge of
//! a connection, the kernel goes on pacing it whatever is chosen later, which costs half as much processor time again.

use std::os::fd::AsFd;

use rustix::net::sockopt;

/// What we ask for, best first.
const WANTED: [&str; 2] = ["cubic", "reno"];

/// Chooses it, and says what the socket has now.
pub fn choose(socket: impl AsFd) -> String {
    for name in WANTED {
        if sockopt::set_tcp_congestion(&socket, name).is_ok() {
            break;
        }
    }
    sockopt::tcp_congestion(&socket).unwrap_or_else(|_| "unknown".to_owned())
}
