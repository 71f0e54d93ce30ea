//! What playing a record of calls says on the screen.

use std::fmt::Write;

use howdah_capture::Names;
use howdah_units::size;
use howdah_workload::measure::LatencySummary;
use howdah_workload::{LaidOut, ReplayReport};

/// What was played, and what came of it beside the record.
pub fn replay(played: &ReplayReport) -> String {
    let mut text = heading(played);
    text.push_str(&table(played));
    text.push_str(&remarks(played));
    text
}

fn heading(played: &ReplayReport) -> String {
    let speed = match played.speed {
        None => "as fast as possible".to_owned(),
        Some(1.0) => "with the recorded timing".to_owned(),
        Some(times) => format!("{times} times as fast as recorded"),
    };
    let names = if played.names == Names::Hashed { "names hashed" } else { "names in plain text" };
    let LaidOut { files, directories, bytes, fillers, .. } = played.laid_out;
    let took: Vec<String> = played
        .phases
        .iter()
        .flat_map(|phase| &phase.runs)
        .map(|run| format!("{:.2} s", run.seconds))
        .collect();
    format!(
        "\nreplay: {}, {} calls in {:.2} s, recorded {} by howdah {}, {names}\n\
         made before: {} files, {directories} directories, {} of data\n\
         played {speed}, at most {} calls at once: took {}\n",
        played.file,
        played.recorded_calls,
        played.recorded_seconds,
        played.recorded,
        played.recorded_by,
        files + fillers,
        size(bytes),
        played.in_flight,
        took.join(", "),
    )
}

fn table(played: &ReplayReport) -> String {
    let mut text = format!(
        "  {:<12}{:>16}{:>20}{:>8}{:>19}{:>19}\n  {:<12}{:>8}{:>8}{:>10}{:>10}{:>8}{:>10}{:>9}{:>10}{:>9}\n",
        "",
        "calls",
        "MB",
        "ended",
        "record, ms",
        "here, ms",
        "",
        "record",
        "here",
        "record",
        "here",
        "other",
        "p50",
        "p99",
        "p50",
        "p99"
    );
    for of in &played.procedures {
        let megabytes =
            |bytes: u64| if bytes > 0 { format!("{:.2}", bytes as f64 / 1e6) } else { "-".to_owned() };
        let _ = writeln!(
            text,
            "  {:<12}{:>8}{:>8}{:>10}{:>10}{:>8}{:>10}{:>9}{:>10}{:>9}",
            of.procedure,
            of.recorded_calls,
            of.calls,
            megabytes(of.recorded_bytes),
            megabytes(of.bytes),
            of.otherwise,
            milliseconds(of.recorded_latency.as_ref(), 50.0),
            milliseconds(of.recorded_latency.as_ref(), 99.0),
            milliseconds(of.latency.as_ref(), 50.0),
            milliseconds(of.latency.as_ref(), 99.0),
        );
    }
    text
}

fn milliseconds(latency: Option<&LatencySummary>, percent: f64) -> String {
    let percentile =
        latency.and_then(|latency| latency.percentiles.iter().find(|one| one.percent == percent));
    percentile.map_or("-".to_owned(), |one| {
        if one.ms < 1.0 { format!("{:.4}", one.ms) } else { format!("{:.2}", one.ms) }
    })
}

/// What a reader must know to compare the two.
fn remarks(played: &ReplayReport) -> String {
    let mut text =
        "  record: at the server, from the complete call to its complete reply; here: from call to reply\n"
            .to_owned();
    let mut remark = |holds: bool, remark: String| {
        if holds {
            let _ = writeln!(text, "  {remark}");
        }
    };
    let late = played.late.as_ref().map_or(0.0, |late| late.max_ms);
    remark(
        played.late_calls > 0,
        format!(
            "{} calls started more than 1 ms late, at most {late:.1} ms: this machine, or --in-flight, could not keep up",
            played.late_calls
        ),
    );
    let skipped = played.procedures.iter().filter(|of| of.skipped > 0);
    let skipped: Vec<String> = skipped.map(|of| format!("{} {}", of.skipped, of.procedure)).collect();
    remark(
        !skipped.is_empty(),
        format!(
            "not replayed, because no file system has such a call or its file was missing: {}",
            skipped.join(", ")
        ),
    );
    if let Some(first) = &played.first_otherwise {
        remark(true, format!("the first call with a different result: {first}"));
    }
    remark(
        played.recorded_dropped > 0,
        format!("the record has gaps: {} calls were dropped when it was taken", played.recorded_dropped),
    );
    remark(played.ended.is_none(), "the record is incomplete: howdah capture was killed".to_owned());
    let left = played.laid_out.fillers_left_out;
    remark(
        left > 0,
        format!("directories are shorter than in the record: {left} files were not created for them"),
    );
    text
}
