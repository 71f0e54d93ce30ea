//! Names that figures can have.

use super::CellSpec;

/// The last word of a figure's name.
const FIGURES: [&str; 25] = [
    "throughput",
    "right",
    "looks",
    "rate",
    "seconds",
    "bytes",
    "p1",
    "p10",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99.9",
    "p99.99",
    "mean",
    "worst",
    "processor",
    "retransmissions",
    "calls",
    "fairness",
    "between_hosts",
    "replies",
    "lost",
    "clock",
    "per_processor_second",
];

/// What a series can show, with spaces: the fields of a series line.
pub const SERIES: [&str; 17] = [
    "rtt",
    "min rtt",
    "window",
    "flight",
    "send buffer",
    "send queue",
    "receive buffer",
    "receive queue",
    "receive window",
    "send window",
    "retransmitted",
    "delivery rate",
    "throughput",
    "rwnd limited",
    "sndbuf limited",
    "busy",
    "queue",
];

/// Why no figure of a cell can have that name; none if one can.
///
/// `CLIENT.figure`, `CLIENT.PHASE.figure`, `server.processor`, `total.throughput`, `verdict.right`, and of a single client without its name.
pub fn unknown_figure(name: &str, cell: &CellSpec) -> Option<String> {
    let figure = FIGURES.iter().find(|figure| name == **figure || name.ends_with(&format!(".{figure}")));
    let Some(figure) = figure else {
        return Some(format!(
            "no figure is called \"{name}\": its last word is one of {}",
            FIGURES.join(", ")
        ));
    };
    let before = name.strip_suffix(figure).expect("it ends so").trim_end_matches('.');
    let first = before.split('.').next().unwrap_or_default();
    let general =
        ["", "server", "total", "link", "verdict"].contains(&first) || cell.clients.contains_key(first);
    let phase = cell.clients.len() == 1;
    (!general && !phase).then(|| {
        let clients: Vec<&str> = cell.clients.keys().map(String::as_str).collect();
        format!("\"{name}\" begins with none of: server, total, link, verdict, {}", clients.join(", "))
    })
}
