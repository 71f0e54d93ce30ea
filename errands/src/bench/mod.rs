//! `cargo xtask bench`: how fast the server is, beside the smallest loops of bare system calls that do the same job
//! (the floors), driven by the same load in the same run.
//!
//! It speaks to the server over the wire alone and knows nothing of its inside. `row.rs` is the table of what is
//! measured; `load/` makes the calls of a row, `floor/` does their job without a server, `generator.rs` drives
//! either, `measure.rs` interleaves them, `report.rs` prints.

mod arguments;
mod ask;
mod compare;
mod congestion;
mod cores;
mod export;
mod figures;
mod flood;
mod floor;
mod generator;
mod idle;
mod load;
mod machine;
mod measure;
mod paired;
mod report;
mod rest;
mod row;
mod serve;
mod server;
mod session;
mod syscalls;

pub use arguments::Arguments;
pub use ask::ask;
pub use load::nfs as nfs_call;

/// Does what was asked.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    if cfg!(debug_assertions) && !matches!(arguments.what, arguments::What::Idle(_)) {
        // A load and floors that are built like that would measure themselves.
        anyhow::bail!("this build is not optimized; use cargo xtask bench");
    }
    match arguments.what {
        arguments::What::Serve(what) => serve::run(&what),
        arguments::What::Compare(what) => compare::run(&what),
        arguments::What::Flood(what) => flood::run(&what),
        arguments::What::Syscalls(what) => syscalls::run(&what),
        arguments::What::Idle(what) => rest::run(&what),
        arguments::What::Floor(what) => floor::run(&what),
    }
}
