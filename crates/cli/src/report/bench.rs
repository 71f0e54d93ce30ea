//! What a measurement says on the screen.

use std::fmt::Write;
use std::time::Duration;

use howdah_units::{clock, power_of_two, rate};
use howdah_workload::measure::{LatencySummary, Spread};
use howdah_workload::{BenchReport, FileSize, PlaceKind, ProgressNow, Unit, WorkloadPlan, WorkloadResult};

use super::counts::call_counts;
use super::replay::replay;

/// The report of a measurement.
pub fn bench(report: &BenchReport) -> String {
    let mut text = heading(report);
    for result in &report.results {
        let _ = write!(text, "\n{}\n", work(&result.parameters));
        text.push_str(&table(result));
        text.push_str(&histogram(result));
        text.push_str(&calls(result));
        text.push_str(&troubles(result));
    }
    if let Some(played) = &report.replay {
        text.push_str(&replay(played));
    }
    text.push('\n');
    for deviation in &report.deviations {
        let _ = writeln!(text, "not as the profile: {deviation}");
    }
    for line in &report.channel {
        let _ = writeln!(text, "client: {line}");
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let _ = writeln!(text, "repeat: {}", report.command);
    text
}

/// How far a measurement is, on one line.
pub fn progress(snapshot: &ProgressNow) -> String {
    let rate = match snapshot.unit {
        Unit::Bytes => rate(snapshot.rate),
        Unit::Operations => format!("{:.0} ops/s", snapshot.rate),
    };
    let part = snapshot.part.map_or(String::new(), |part| format!("{:3.0} %  ", part * 100.0));
    let left = snapshot.left.map_or(String::new(), |left| format!("  {} left", clock(left.as_secs_f64())));
    format!("{}  {part}{rate}{left}", snapshot.label)
}

fn heading(report: &BenchReport) -> String {
    let BenchReport { howdah_version, machine, place, profile, schedule, seed, .. } = report;
    let kind = match place.kind {
        PlaceKind::Memory => "memory of this process",
        PlaceKind::Directory => "directory",
        PlaceKind::Nfs => place.protocol.unwrap_or("NFS"),
    };
    let transport = place
        .transport
        .as_ref()
        .map_or(String::new(), |transport| format!(" over {}", transport.to_uppercase()));
    let profile = profile.as_ref().map_or(String::new(), |profile| format!(", profile {profile}"));
    let memory = machine.memory_bytes as f64 / f64::from(1 << 30);
    let warm_up = match schedule.warm_up {
        0 => String::new(),
        more => format!(", after {more} to warm up"),
    };
    format!(
        "{}, {kind}{transport}{profile}\n\
         howdah {howdah_version} on {}, {}, {} x {}, {memory:.1} GiB of memory\n\
         {} run{}{warm_up}; median, and least to most; seed {seed}\n",
        place.name,
        machine.host,
        machine.kernel,
        machine.processors,
        if machine.processor.is_empty() { &machine.architecture } else { &machine.processor },
        schedule.runs,
        if schedule.runs == 1 { "" } else { "s" },
    )
}

/// What was done, on one line.
fn work(plan: &WorkloadPlan) -> String {
    let mut text = format!("{}: {} {}", plan.workload.name(), plan.files, files(plan));
    let mut part = |holds: bool, part: String| {
        if holds {
            text.push_str(", ");
            text.push_str(&part);
        }
    };
    let moves = plan.file_size.largest_bytes > 0;
    let unit = if plan.workload.is_random() { "blocks" } else { "records" };
    part(moves, format!("{unit} of {}", power_of_two(plan.record_bytes)));
    part(
        moves && plan.transfer_bytes != plan.record_bytes,
        format!("transfers of {}", power_of_two(plan.transfer_bytes)),
    );
    part(plan.threads > 1, format!("{} threads", plan.threads));
    let calls = |calls: u64| format!("{calls} in flight");
    part(plan.in_flight != Some(1), plan.in_flight.map_or("in flight by the path".to_owned(), calls));
    part(plan.workload.is_random() && plan.time.is_none(), format!("{} operations", plan.operations));
    part(plan.workload.name() == "mixed", format!("{} % reads", plan.read_percent));
    part(plan.workload.writes(), format!("commit {}", plan.commit.name()));
    let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64();
    part(plan.time.is_some(), format!("{} s", seconds(plan.time)));
    part(plan.ramp.is_some(), format!("the first {} s not counted", seconds(plan.ramp)));
    part(plan.think.is_some(), format!("{} s to think after each", seconds(plan.think)));
    part(plan.beside.is_some(), format!("attributes asked for each {} s", seconds(plan.beside)));
    part(plan.verify, "verified".to_owned());
    text
}

fn files(plan: &WorkloadPlan) -> String {
    let noun = if plan.files == 1 { "file" } else { "files" };
    match plan.file_size {
        FileSize { largest_bytes: 0, .. } => format!("empty {noun}"),
        FileSize { smallest_bytes, largest_bytes } if smallest_bytes == largest_bytes => {
            format!("{noun} of {}", power_of_two(largest_bytes))
        }
        FileSize { smallest_bytes, largest_bytes } => {
            format!("{noun} of {} to {}", power_of_two(smallest_bytes), power_of_two(largest_bytes))
        }
    }
}

fn table(result: &WorkloadResult) -> String {
    let mut text = format!(
        "  {:<14}{:>26}{:>28}{:>9}{:>11}{:>11}{:>11}\n",
        "", "MB/s", "ops/s", "CPU s/GB", "p50 ms", "p99 ms", "max ms"
    );
    for phase in &result.phases {
        let percentile = |percent: f64| phase.latency.as_ref().and_then(|latency| at(latency, percent));
        let _ = writeln!(
            text,
            "  {:<14}{:>26}{:>28}{:>9}{:>11}{:>11}{:>11}",
            phase.name,
            spread(phase.bytes_per_second, 1e6, 1),
            spread(phase.operations_per_second, 1.0, 0),
            phase.processor_seconds_per_gb.map_or("-".to_owned(), |cost| format!("{:.2}", cost.median)),
            milliseconds(percentile(50.0)),
            milliseconds(percentile(99.0)),
            milliseconds(phase.latency.as_ref().map(|latency| latency.max_ms)),
        );
    }
    text
}

fn at(latency: &LatencySummary, percent: f64) -> Option<f64> {
    latency
        .percentiles
        .iter()
        .find(|percentile| percentile.percent == percent)
        .map(|percentile| percentile.ms)
}

fn spread(figure: Option<Spread>, unit: f64, digits: usize) -> String {
    figure.map_or("-".to_owned(), |figure| {
        let [median, min, max] = [figure.median, figure.min, figure.max].map(|value| value / unit);
        if min == max {
            return format!("{median:.digits$}");
        }
        format!("{median:.digits$} ({min:.digits$}..{max:.digits$})")
    })
}

fn milliseconds(figure: Option<f64>) -> String {
    figure.map_or("-".to_owned(), |figure| match figure {
        small if small < 1.0 => format!("{small:.4}"),
        large => format!("{large:.2}"),
    })
}

/// The classic view of latencies: the buckets that hold something.
fn histogram(result: &WorkloadResult) -> String {
    let mut text = String::new();
    for phase in &result.phases {
        let Some(latency) = &phase.latency else { continue };
        let held = latency.histogram.iter().filter(|bucket| bucket.count > 0);
        let buckets: Vec<String> = held
            .map(|bucket| match bucket.to_ms {
                Some(to) => format!("{}-{to} ms {}", bucket.from_ms, bucket.count),
                None => format!("{} ms and more {}", bucket.from_ms, bucket.count),
            })
            .collect();
        let _ = writeln!(text, "  {} latencies: {}", phase.name, buckets.join(", "));
    }
    text
}

/// Calls and retransmissions, phase by phase.
fn calls(result: &WorkloadResult) -> String {
    let counted = result.phases.iter().filter(|phase| !phase.procedures.is_empty());
    counted.map(|phase| format!("  {} calls: {}\n", phase.name, call_counts(&phase.procedures))).collect()
}

/// What did not go smoothly.
fn troubles(result: &WorkloadResult) -> String {
    let mut text = String::new();
    for phase in &result.phases {
        let total =
            |figure: fn(&howdah_workload::RunFigures) -> u64| phase.runs.iter().map(figure).sum::<u64>();
        let (resent, repeated) = (total(|run| run.resent_bytes), total(|run| run.repeated_answers));
        if resent > 0 {
            let _ =
                writeln!(text, "  {}: the server lost {resent} bytes, which were written again", phase.name);
        }
        if repeated > 0 {
            let _ = writeln!(
                text,
                "  {}: {repeated} answers belonged to an earlier try of the same call",
                phase.name
            );
        }
        let verified = total(|run| run.verified_bytes);
        if verified > 0 && !phase.is_part {
            let _ = writeln!(text, "  {}: {verified} bytes verified", phase.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_line() {
        let snapshot = ProgressNow {
            label: "write write".to_owned(),
            unit: Unit::Bytes,
            done: 5_000_000,
            part: Some(0.25),
            rate: 43_300_000.0,
            left: Some(std::time::Duration::from_secs(75)),
        };
        assert_eq!(progress(&snapshot), "write write   25 %  43.3 MB/s  1:15 left");
    }
}
