//! `cargo xtask bench`: how fast the server is, beside the smallest loops of bare system calls that do the same job
//! (the floors), driven by the same load in the same run.
//!
//! It speaks to the server over the wire alone and knows nothing of its inside. `row.rs` is the table of what is
//! measured; `load/` makes the calls of a row, `floor/` does their job without a server, `generator.rs` drives
//! either, `measure.rs` interleaves them, `report.rs` prints.

mod arguments;
mod client;
mod compare;
mod congestion;
mod cores;
mod export;
mod figures;
mod flood;
mod floor;
mod generator;
mod link;
mod load;
mod machine;
mod measure;
mod memory;
mod metrics;
mod page;
mod paired;
mod report;
mod row;
mod serve;
mod server;
mod session;
mod syscalls;
mod tuning;
mod udp;

pub use arguments::Arguments;
pub use load::nfs as nfs_call;
pub use metrics::ask;

/// Does what was asked.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    if cfg!(debug_assertions) {
        // A load and floors that are built like that would measure themselves.
        anyhow::bail!("this build is not optimized; use cargo xtask bench");
    }
    match arguments.what {
        arguments::What::Client(what) => client::run(&what),
        arguments::What::Serve(what) => serve::run(&what),
        arguments::What::Tuning(what) => tuning::run(&what),
        arguments::What::Compare(what) => compare::run(&what),
        arguments::What::Metrics(what) => metrics::run(&what),
        arguments::What::Page(what) => page::run(&what),
        arguments::What::Memory(what) => memory::run(&what),
        arguments::What::Flood(what) => flood::run(&what),
        arguments::What::Link(what) => link::run(&what),
        arguments::What::Syscalls(what) => syscalls::run(&what),
        arguments::What::Udp(what) => udp::run(&what),
        arguments::What::Floor(what) => floor::run(&what),
    }
}
