//! What is measured rather than proved: run only when named, at sizes that take their time.

use std::time::Duration;

use super::kernel_client::{BASE, PLAIN, guest};
use crate::scenario::Scenario;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
/// Medians of so many.
const ROUNDS: u64 = 3;
/// 1: done; 0: left out, for who has little time.
const DONE: u64 = 1;
const LIMIT: Duration = Duration::from_secs(1_800);

type Size = (&'static str, u64, u64);
const UP: Size = ("UP", DONE, DONE);
const DOWN: Size = ("DOWN", DONE, DONE);
const KERNEL: Size = ("KERNEL", DONE, DONE);
const LIBNFS: Size = ("LIBNFS", DONE, DONE);

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "copies-big",
        about: "howdah cp beside cp on the kernel's mount and nfs-cp: a file of 4 GiB, both directions",
        peer: guest("copies.sh", PLAIN),
        sizes: &[
            ("SIZE", 4 * GIB, 256 * MIB),
            ("FILES", 0, 0),
            ("ROUNDS", ROUNDS, 1),
            UP,
            DOWN,
            KERNEL,
            LIBNFS,
        ],
        limit: LIMIT,
        ..BASE
    },
    Scenario {
        name: "copies-many",
        about: "howdah cp beside cp on the kernel's mount and nfs-cp: 2,000 files of 1 MB, both directions",
        peer: guest("copies.sh", PLAIN),
        sizes: &[("SIZE", 0, 0), ("FILES", 2_000, 100), ("ROUNDS", ROUNDS, 1), UP, DOWN, KERNEL, LIBNFS],
        limit: LIMIT,
        ..BASE
    },
];
