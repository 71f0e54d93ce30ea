//! What was seen, over time, as one figure.

use howdah_lab::record::unit;
use howdah_lab::report::{Trace, svg_over_time};

use super::record::Sample;

/// A line of it: its axis, its unit, its name, and what it shows.
type Shown = (&'static str, &'static str, &'static str, fn(&Sample) -> Option<f64>);

const MEMORY: &str = "Memory";
const OPEN: &str = "Descriptors";
const THREADS: &str = "Threads";
const KEPT: &str = "Replies that the server keeps for repetitions";
const SERVED: &str = "Half of the calls take less, at the server";
const NEARLY_SERVED: &str = "99 of 100 calls take less, at the server";
const STEPS: &str = "Half of the steps take less, at a client";
const NEARLY_STEPS: &str = "99 of 100 steps take less, at a client";

/// All lines.
const LINES: [Shown; 11] = [
    (MEMORY, unit::BYTES, "memory of the server", |s| Some(s.server.memory as f64)),
    (MEMORY, unit::BYTES, "memory of the client, less its models", |s| {
        Some(s.client.memory as f64 - s.models as f64)
    }),
    (KEPT, unit::BYTES, "replies kept", |s| Some(s.kept_replies as f64)),
    (OPEN, unit::COUNT, "descriptors of the server", |s| Some(s.server.descriptors as f64)),
    (OPEN, unit::COUNT, "descriptors of the client", |s| Some(s.client.descriptors as f64)),
    (THREADS, unit::COUNT, "threads of the server", |s| Some(s.server.threads as f64)),
    (THREADS, unit::COUNT, "threads of the client", |s| Some(s.client.threads as f64)),
    (NEARLY_SERVED, unit::SECONDS, "99 of 100 calls at the server", |s| s.server.p99),
    (SERVED, unit::SECONDS, "half of the calls at the server", |s| s.server.p50),
    (NEARLY_STEPS, unit::SECONDS, "99 of 100 steps at the client", |s| s.client.p99),
    (STEPS, unit::SECONDS, "half of the steps at the client", |s| s.client.p50),
];

/// The figure, as SVG.
pub fn draw(samples: &[Sample]) -> String {
    let trace = |(axis, unit, name, of): &Shown| {
        let points = samples.iter().filter_map(|sample| Some((sample.at, of(sample)?))).collect();
        Trace { name: (*name).to_owned(), axis, unit, points }
    };
    let traces: Vec<Trace> = LINES.iter().map(trace).collect();
    svg_over_time("A server and its clients over time, on a nasty path", "Time since the beginning", &traces)
}
