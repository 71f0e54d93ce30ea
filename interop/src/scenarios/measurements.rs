//! What is measured rather than proved: run only when named, at sizes that take their time.

use std::time::Duration;

use super::kernel_client::{BASE, PLAIN, guest};
use crate::scenario::Scenario;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "copies",
    about: "howdah cp beside cp on the kernel's mount and nfs-cp: a 4 GiB file and 2,000 files of 1 MB, both directions",
    peer: guest("copies.sh", PLAIN),
    sizes: &[("SIZE", 4 * GIB, 256 * MIB), ("FILES", 2_000, 100), ("ROUNDS", 3, 1)],
    limit: Duration::from_secs(3_600),
    ..BASE
}];
