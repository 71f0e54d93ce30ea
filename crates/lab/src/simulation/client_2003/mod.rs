//! The client of 2003, as far as its timer and its window go; built from what is known of them, for comparison only.
//!
//! Facts: Linux 2.4.20 took over the estimator and the congestion window of 2.5.25 (a change of July 2002), and the floor
//! of the estimator was raised in 2.4.22 (August 2003) after mount logs had filled with "server not responding".

mod client;
mod timer;
mod window;

pub use client::Client2003;
