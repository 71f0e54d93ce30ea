//! The laboratory: workloads that run on any [`FileSystem`](howdah_vfs::FileSystem), and what they measured.
//!
//! `workload` is what runs, `content` the data it writes and knows again, `measure` the figures, `counters` the calls
//! per procedure of this client and of the kernel's. It knows no protocol: a [`workload::Place`] is a file system, and
//! who has counters of calls hands them in.

pub mod content;
pub mod counters;
pub mod guest;
pub mod measure;
pub mod network;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod sample;
pub mod sandbox;
pub mod simulation;
pub mod workload;
