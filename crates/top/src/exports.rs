//! The table of exports: what they are asked, and how long it takes.

use howdah_units::{narrow_bytes, narrow_count, narrow_time};

use super::seen::{ExportSeen, ProcedureSeen};
use super::table::{Column, Row, TableCell};

/// Its columns.
pub const COLUMNS: &[Column] = &[
    Column::long_words("EXPORT", 12, 0),
    Column::figures("CALLS/s", 7, 1),
    Column::figures("ERR/s", 5, 6),
    Column::figures("MEAN", 6, 4),
    Column::figures("P50", 6, 8),
    Column::figures("P99", 6, 3),
    Column::figures("STOR", 4, 5),
    Column::figures("IN/s", 5, 2),
    Column::figures("OUT/s", 5, 2),
    Column::long_words("MOSTLY", 14, 9),
];
/// How many procedures of an export are shown.
const TOLD: usize = 4;

/// Its row.
pub fn row(export: &ExportSeen) -> Row {
    let all = &export.all;
    let errors = TableCell::figure(all.errors_per_second, narrow_count);
    let has_errors = all.errors_per_second.is_some_and(|rate| rate > 0.0);
    Row {
        key: export.export.clone(),
        cells: vec![
            TableCell::text(&export.export),
            TableCell::figure(all.calls_per_second, narrow_count),
            errors.alarming(has_errors),
            TableCell::figure(all.mean_seconds, narrow_time),
            TableCell::figure(all.p50_seconds, narrow_time),
            TableCell::figure(all.p99_seconds, narrow_time),
            TableCell::figure(all.storage_part, percent),
            TableCell::figure(all.received_per_second, narrow_bytes),
            TableCell::figure(all.sent_per_second, narrow_bytes),
            TableCell::text(mostly(export)),
        ],
        about: export.procedures.iter().take(TOLD).map(procedure).collect(),
        is_busy: !export.procedures.is_empty(),
    }
}

/// Its procedures and their parts, the most called first.
fn mostly(export: &ExportSeen) -> String {
    let rate = |procedure: &ProcedureSeen| procedure.calls.calls_per_second.unwrap_or_default();
    let whole: f64 = export.procedures.iter().map(rate).sum();
    let parts = export.procedures.iter().take(TOLD);
    let parts = parts.map(|part| format!("{} {}", part.procedure, percent(rate(part) / whole)));
    parts.collect::<Vec<_>>().join(", ")
}

fn procedure(procedure: &ProcedureSeen) -> String {
    let calls = &procedure.calls;
    let or_none = |value: Option<f64>, tell: fn(f64) -> String| value.map_or("-".to_owned(), tell);
    format!(
        "{}: {}/s, {} errors/s, mean {}, p99 {}, storage {}",
        procedure.procedure,
        or_none(calls.calls_per_second, narrow_count),
        or_none(calls.errors_per_second, narrow_count),
        or_none(calls.mean_seconds, narrow_time),
        or_none(calls.p99_seconds, narrow_time),
        or_none(calls.storage_part, percent),
    )
}

fn percent(part: f64) -> String {
    format!("{:.0}%", part * 100.0)
}
