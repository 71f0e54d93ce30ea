//! Models of lock-free pieces whose steps are sequentially consistent: the real files, with threads and atomics of `shuttle`, which tries
//! every interleaving where steps are few, and very many where they are not. A failure prints the schedule that repeats it.

#[path = "../../src/connection/armed.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is the server's")]
mod armed;
mod armed_model;
#[path = "../../src/connection/pausing.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is the server's")]
mod pausing;
mod pausing_model;

/// What the pieces are made of here.
mod sync {
    pub use shuttle::sync::atomic;
}

/// Schedules where there are too many for all.
const SCHEDULES: usize = 5_000;
