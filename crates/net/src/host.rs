//! What this host lets a connection have: capabilities are tried on a socket that nobody uses, limits are read.

use std::fs;
use std::io;
use std::path::Path;

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
        group: group_limit(Path::new("/")),
    }
}

/// The least that may be used by the control group that we are in, and by those above it (cgroups(7)); `root`: where `/proc` and
/// `/sys` are.
fn group_limit(root: &Path) -> Option<u64> {
    let ours = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    // A container may see its own group as the root, whatever it is called outside.
    let groups = ours.lines().filter_map(memory_group).chain([(UNIFIED, "", &UNIFIED_LIMITS[..])]);
    let limits = groups.flat_map(|(hierarchy, group, files)| {
        let up = Path::new(group).ancestors().map(move |group| root.join(hierarchy).join(group));
        up.flat_map(|group| files.iter().filter_map(move |file| numbers(group.join(file)).first().copied()))
    });
    limits.filter(|&limit| limit < UNLIMITED).min()
}

const UNIFIED: &str = "sys/fs/cgroup";
const UNIFIED_LIMITS: [&str; 2] = ["memory.max", "memory.high"];
/// Of version 1, which has a hierarchy for each controller.
const MEMORY: &str = "sys/fs/cgroup/memory";
const MEMORY_LIMITS: [&str; 1] = ["memory.limit_in_bytes"];
/// From here on it says that there is no limit: the largest number of bytes, rounded down to whole pages.
const UNLIMITED: u64 = 1 << 62;

/// The hierarchy, the group and the names of its limits, of a line of `/proc/self/cgroup` about memory.
fn memory_group(line: &str) -> Option<(&'static str, &str, &'static [&'static str])> {
    let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
    let group = group.trim_start_matches('/');
    if controllers.is_empty() {
        Some((UNIFIED, group, &UNIFIED_LIMITS))
    } else {
        let has_memory = controllers.split(',').any(|controller| controller == "memory");
        has_memory.then_some((MEMORY, group, &MEMORY_LIMITS))
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
fn numbers(file: impl AsRef<Path>) -> Vec<u64> {
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
    fn the_least_limit_of_our_control_group_and_those_above_it_holds() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().expect("it lies somewhere")).expect("a directory");
            fs::write(file, text).expect("writing");
        };
        let limit = || group_limit(root.path());
        assert_eq!(limit(), None);
        // A service of systemd, in the root namespace of control groups.
        write("proc/self/cgroup", "0::/system.slice/howdah.service\n");
        write("sys/fs/cgroup/system.slice/memory.max", "max\n");
        assert_eq!(limit(), None);
        write("sys/fs/cgroup/system.slice/howdah.service/memory.max", "800\n");
        assert_eq!(limit(), Some(800));
        write("sys/fs/cgroup/system.slice/howdah.service/memory.high", "700\n");
        write("sys/fs/cgroup/system.slice/memory.max", "900\n");
        assert_eq!(limit(), Some(700));
        write("sys/fs/cgroup/system.slice/memory.max", "600\n");
        assert_eq!(limit(), Some(600), "what is above bounds what is below");
        // A container that sees its group as the root.
        write("sys/fs/cgroup/memory.max", "500\n");
        assert_eq!(limit(), Some(500));
        // Version 1.
        write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/docker/a1\n0::/\n");
        write("sys/fs/cgroup/memory/docker/a1/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(limit(), Some(500), "that of version 1 says that there is none");
        write("sys/fs/cgroup/memory/docker/a1/memory.limit_in_bytes", "400\n");
        assert_eq!(limit(), Some(400));
    }

    #[test]
    fn this_host_can_be_asked() {
        let host = probe_host().expect("a socket");
        assert!(host.send_autotuned_most > 0 && host.receive_autotuned_most > 0, "{host:?}");
        let memory = memory_limits();
        assert!(memory.total > 0 && memory.tcp[0] <= memory.tcp[2], "{memory:?}");
    }
}
