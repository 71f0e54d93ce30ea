//! This host's kernel: `/proc/sys` of the calling thread's network namespace, and its memory.

use std::fs;
use std::path::Path;

use crate::facts::{DatagramCounts, HostFacts, Table};

/// Looks.
pub fn host() -> HostFacts {
    let memory = howdah_net::memory_limits();
    let is_on = |name: &str| number(name).map(|value| value != 0);
    HostFacts {
        kernel: text("kernel/osrelease"),
        tcp_receive: three("net/ipv4/tcp_rmem"),
        tcp_send: three("net/ipv4/tcp_wmem"),
        receive_most: number("net/core/rmem_max"),
        send_most: number("net/core/wmem_max"),
        datagrams: fs::read_to_string("/proc/net/snmp").ok().and_then(|text| datagrams(&text)),
        window_scaling: is_on("net/ipv4/tcp_window_scaling"),
        selective_acknowledgements: is_on("net/ipv4/tcp_sack"),
        moderates_receive: is_on("net/ipv4/tcp_moderate_rcvbuf"),
        mtu_probing: number("net/ipv4/tcp_mtu_probing"),
        congestion_control: text("net/ipv4/tcp_congestion_control"),
        congestion_controls: howdah_net::congestion_controls(),
        memory: Some(memory.total),
        memory_available: available(),
        tcp_memory: Some(howdah_net::memory_of_tcp()),
        // Namespaces of networks do not show it.
        tcp_memory_pressure: Some(memory.tcp[1]).filter(|bytes| *bytes < u64::MAX / 2),
        files: files(),
        conntrack: conntrack(),
        slots_most: number("sunrpc/tcp_max_slot_table_entries"),
        // A caller that can ask for them adds them.
        unwritable: Vec::new(),
    }
}

/// Two lines that begin with `Udp:`: names, and figures in the same order.
fn datagrams(text: &str) -> Option<DatagramCounts> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let (names, figures) = (lines.next()?, lines.next()?);
    let figure = |name: &str| -> Option<u64> {
        let at = names.split_whitespace().position(|other| other == name)?;
        figures.split_whitespace().nth(at)?.parse().ok()
    };
    Some(DatagramCounts { received: figure("InDatagrams")?, dropped: figure("RcvbufErrors")? })
}

fn text(name: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new("/proc/sys").join(name)).ok()?;
    Some(text.trim().to_owned())
}

fn number(name: &str) -> Option<u64> {
    text(name)?.parse().ok()
}

fn numbers(name: &str) -> Vec<u64> {
    text(name).iter().flat_map(|text| text.split_whitespace()).filter_map(|word| word.parse().ok()).collect()
}

fn three(name: &str) -> Option<[u64; 3]> {
    numbers(name).try_into().ok()
}

/// `fs.file-nr`: allocated, free, most.
fn files() -> Option<Table> {
    let [used, _, most] = three("fs/file-nr")?;
    Some(Table { used, most })
}

fn conntrack() -> Option<Table> {
    let used = number("net/netfilter/nf_conntrack_count")?;
    Some(Table { used, most: number("net/netfilter/nf_conntrack_max").filter(|most| *most > 0)? })
}

fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_buffers_and_memory() {
        let facts = host();
        assert!(facts.tcp_send.is_some_and(|[least, _, most]| least <= most), "{facts:?}");
        assert!(facts.memory_available <= facts.memory && facts.kernel.is_some(), "{facts:?}");
        assert!(facts.datagrams.is_some(), "{facts:?}");
    }

    #[test]
    fn dropped_datagrams_are_found_by_name() {
        let text = "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors\nUdp: 100 2 5 90 3\nUdpLite: InDatagrams\nUdpLite: 7\n";
        assert_eq!(datagrams(text), Some(DatagramCounts { received: 100, dropped: 3 }));
        assert_eq!(datagrams("Tcp: x\n"), None);
    }
}
