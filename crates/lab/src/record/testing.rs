//! A row for tests.

use howdah_link::Counters;

use super::{CommandRecord, Late, LinkCount, Outcome, Row, RowFigure, unit};
use howdah_workload::measure::{Machine, OtherLoad};

/// A row that holds something in every field.
pub fn row(cell: u32, repetition: u32) -> Row {
    let command = ["howdah", "serve", "--no-udp", "/srv"].map(str::to_owned).to_vec();
    Row {
        plan: "buffers-2008".to_owned(),
        quick: false,
        cell,
        repetition,
        seed: 123,
        factors: [("rtt".to_owned(), "30ms".to_owned())].into(),
        outcome: Outcome::Ok,
        started: "2026-11-22T04:00:00Z".to_owned(),
        seconds: 12.25,
        other_load: Some(OtherLoad { seconds: 0.5, share: 0.02 }),
        commands: vec![CommandRecord { host: "server".to_owned(), name: "server".to_owned(), command }],
        line_rate_bytes_per_second: Some(117e6),
        round_trip_seconds: 0.03,
        figures: [("throughput".to_owned(), RowFigure::new(43.3e6, unit::BYTES_PER_SECOND))].into(),
        latencies: [("main".to_owned(), vec![(0.5, 0.0301), (0.9, 0.04)])].into(),
        link: vec![LinkCount {
            wire: "path0".to_owned(),
            direction: "there".to_owned(),
            element: "rate".to_owned(),
            counters: Counters::default(),
            late: Some(Late {
                half_seconds: 16e-6,
                nearly_all_seconds: 64e-6,
                most_seconds: 0.001,
                exact_part: Some(0.9987),
            }),
        }],
        series: Some("series/007-1.jsonl".to_owned()),
        machine: Machine::this(),
        commit: None,
        howdah: "0.1.0".to_owned(),
    }
}
