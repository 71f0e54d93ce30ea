//! What this host lets a connection have: capabilities are tried on a socket that nobody uses, limits are read.

use std::fs;
use std::io;

use crate::congestion::BBR;
use howdah_tune::budget::HostMemory;
use howdah_tune::host::Host;
use rustix::net::{AddressFamily, SocketType, sockopt};

/// What buffers grow to where `tcp_wmem` and `tcp_rmem` cannot be read: the kernel's own figures before Linux 6.18.
const AUTOTUNED_SEND: u64 = 4 << 20;
const AUTOTUNED_RECEIVE: u64 = 6 << 20;

/// Finds out what may be done to sockets.
///
/// # Errors
/// No socket can be made.
pub fn probe_host() -> io::Result<Host> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    let has_bbr = sockopt::set_tcp_congestion(&socket, BBR).is_ok();
    Ok(Host { has_bbr, ..probe_buffers()? })
}

/// The same of buffers alone, for who only looks: whether there is bbr is not asked, by which the kernel would load it.
///
/// # Errors
/// No socket can be made.
pub fn probe_buffers() -> io::Result<Host> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
    let size = sockopt::socket_send_buffer_size(&socket)?;
    let may_force = sockopt::set_socket_send_buffer_size_force(&socket, size).is_ok();
    Ok(Host {
        may_force,
        send_autotuned_most: third("/proc/sys/net/ipv4/tcp_wmem").unwrap_or(AUTOTUNED_SEND),
        receive_autotuned_most: third("/proc/sys/net/ipv4/tcp_rmem").unwrap_or(AUTOTUNED_RECEIVE),
        send_unforced_most: numbers("/proc/sys/net/core/wmem_max").first().map_or(0, |most| 2 * most),
        has_bbr: false,
    })
}

/// What memory the host has, and what TCP may take of it.
pub fn memory_limits() -> HostMemory {
    let page = crate::syscall::page_size();
    let marks = numbers("/proc/sys/net/ipv4/tcp_mem");
    let mark = |index: usize| marks.get(index).map_or(u64::MAX / 2, |pages| pages * page);
    HostMemory {
        total: total_memory().unwrap_or(1 << 30),
        tcp: [mark(0), mark(1), mark(2)],
        group: numbers("/sys/fs/cgroup/memory.max").first().copied(),
    }
}

/// Bytes that all TCP sockets of this network namespace hold now.
pub fn memory_of_tcp() -> u64 {
    let text = fs::read_to_string("/proc/net/sockstat").unwrap_or_default();
    pages_of_tcp(&text).unwrap_or(0) * crate::syscall::page_size()
}

fn pages_of_tcp(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("TCP:"))?;
    let mut words = line.split_whitespace().skip_while(|word| *word != "mem");
    words.nth(1)?.parse().ok()
}

fn total_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

fn third(file: &str) -> Option<u64> {
    numbers(file).get(2).copied()
}

/// The numbers in a file of numbers; none where there is no such file, or it says `max`.
fn numbers(file: &str) -> Vec<u64> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_tcp_are_found() {
        let text = "sockets: used 294\nTCP: inuse 9 orphan 0 tw 4 alloc 12 mem 34\nUDP: inuse 3 mem 2\n";
        assert_eq!(pages_of_tcp(text), Some(34));
        assert_eq!(pages_of_tcp("sockets: used 294\n"), None);
    }

    #[test]
    fn this_host_can_be_asked() {
        let host = probe_host().expect("a socket");
        assert!(host.send_autotuned_most > 0 && host.receive_autotuned_most > 0, "{host:?}");
        let memory = memory_limits();
        assert!(memory.total > 0 && memory.tcp[0] <= memory.tcp[2], "{memory:?}");
    }
}
