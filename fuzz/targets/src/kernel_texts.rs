//! What the kernel reports in text. It means well, but its formats grow, and a container may show anything in its place.

use howdah_workload::counters::{KernelClient, mount_statistics};

/// Reads any text as each of them.
pub fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mounts = mount_statistics(&text);
    assert!(mounts.len() <= text.lines().count());
    drop(KernelClient::parse(&text));
}
