//! howdah against clients that nobody here wrote.
//!
//! A scenario is a value of the table in `scenarios`. `runner` runs each in a process of its own, in namespaces of its
//! own; `inside` is what that process does: it starts howdah and the peer (a Linux kernel in User Mode Linux, or
//! programs of the host), disturbs the server as the scenario says, and compares. The jobs themselves are shell
//! scripts in `guest/` and `host/`; `exerciser` is the part of them that needs to be fast.
//!
//! Knows the `howdah` binary by its command line only. `conform` alone calls its file system itself.
//!
//! `other_client` stands apart: NFSv3 by a second implementation, as a `FileSystem`, for `tests/`.

pub mod arguments;
pub mod conform;
pub mod exerciser;
pub mod inside;
pub mod job;
pub mod machine;
pub mod other_client;
pub mod outcome;
pub mod pattern;
pub mod runner;
pub mod scenario;
pub mod scenarios;
mod scripts;
mod tree;
