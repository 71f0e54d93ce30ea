//! Figures from the JSON of `howdah bench` (`docs/bench.md`).

use anyhow::{Context, Result};
use serde_json::Value;

use super::Measured;
use crate::record::unit;

/// The figures of all phases: with the phase's name before them, and without if there is one alone.
pub fn measured(text: &str) -> Result<Measured> {
    let parsed: Value = serde_json::from_str(text).context("not JSON")?;
    let results = parsed["results"].as_array().context("no results")?;
    // A record that was played has its phase beside the workloads, of which there are none then.
    let parts = results.iter().chain(parsed.get("replay"));
    let phases: Vec<&Value> = parts.filter_map(|part| part["phases"].as_array()).flatten().collect();
    let mut measured = Measured::default();
    for phase in &phases {
        let name = phase["name"].as_str().context("a phase without a name")?;
        let (prefix, key) = if phases.len() == 1 { (String::new(), "") } else { (format!("{name}."), name) };
        add(&mut measured, &prefix, key, phase);
    }
    Ok(measured)
}

fn add(measured: &mut Measured, prefix: &str, key: &str, phase: &Value) {
    let number = |path: &str| phase.pointer(path).and_then(Value::as_f64);
    let total = |path: &str| -> f64 {
        let runs = phase["runs"].as_array().map(Vec::as_slice).unwrap_or_default();
        runs.iter().filter_map(|run| run.pointer(path).and_then(Value::as_f64)).sum()
    };
    let mut figure = |name: &str, value: Option<f64>, unit: &str| {
        if let Some(value) = value {
            measured.add(&format!("{prefix}{name}"), value, unit);
        }
    };
    figure("throughput", number("/bytes_per_second/median"), unit::BYTES_PER_SECOND);
    figure("rate", number("/operations_per_second/median"), unit::OPERATIONS_PER_SECOND);
    figure("seconds", Some(total("/seconds")), unit::SECONDS);
    figure("bytes", Some(total("/bytes")).filter(|bytes| *bytes > 0.0), unit::BYTES);
    let processor = total("/processor/user_seconds") + total("/processor/system_seconds");
    let processor = Some(processor).filter(|_| phase["is_part"] == Value::Bool(false));
    figure("processor", processor, unit::SECONDS);
    let per_second =
        processor.map(|seconds| total("/bytes") / seconds).filter(|per_second| per_second.is_normal());
    figure("per_processor_second", per_second, unit::BYTES_PER_PROCESSOR_SECOND);
    let procedures = phase["procedures"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !procedures.is_empty() {
        let sum = |field: &str| procedures.iter().filter_map(|procedure| procedure[field].as_f64()).sum();
        figure("calls", Some(sum("calls")), unit::COUNT);
        figure("retransmissions", Some(sum("retransmissions")), unit::COUNT);
    }
    figure("mean", number("/latency/mean_ms").map(|ms| ms / 1e3), unit::SECONDS);
    figure("worst", number("/latency/max_ms").map(|ms| ms / 1e3), unit::SECONDS);
    let percentiles = phase.pointer("/latency/percentiles").and_then(Value::as_array);
    let pair = |each: &Value| Some((each["percent"].as_f64()?, each["ms"].as_f64()? / 1e3));
    let pairs: Vec<(f64, f64)> = percentiles.into_iter().flatten().filter_map(pair).collect();
    for (percent, seconds) in &pairs {
        figure(&format!("p{percent}"), Some(*seconds), unit::SECONDS);
    }
    if !pairs.is_empty() {
        let fractions = pairs.into_iter().map(|(percent, seconds)| (percent / 100.0, seconds));
        measured.latencies.insert(key.to_owned(), fractions.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: &str = r#"{"name":"write","is_part":false,"bytes_per_second":{"median":43.3e6,"min":1,"max":2},
        "operations_per_second":{"median":41.0,"min":1,"max":2},"latency":{"count":500,"mean_ms":30.0,"max_ms":460.0,
        "percentiles":[{"percent":50.0,"ms":30.0},{"percent":99.9,"ms":400.0}]},
        "procedures":[{"calls":500,"retransmissions":2},{"calls":1,"retransmissions":0}],
        "runs":[{"seconds":12.0,"bytes":524288000,"processor":{"user_seconds":0.5,"system_seconds":1.0}}]}"#;

    #[test]
    fn a_single_phase_needs_no_name() {
        let parsed = measured(&format!(r#"{{"results":[{{"phases":[{WRITE}]}}]}}"#)).expect("read");
        for (name, value) in [
            ("throughput", 43.3e6),
            ("rate", 41.0),
            ("seconds", 12.0),
            ("bytes", 524_288_000.0),
            ("processor", 1.5),
            ("per_processor_second", 524_288_000.0 / 1.5),
            ("calls", 501.0),
            ("retransmissions", 2.0),
            ("worst", 0.46),
            ("p50", 0.03),
            ("p99.9", 0.4),
        ] {
            assert_eq!(parsed.figures[name].value, value, "{name}");
        }
        let pairs = &parsed.latencies[""];
        assert!((pairs[1].0 - 0.999).abs() < 1e-9 && pairs[1].1 == 0.4, "{pairs:?}");
    }

    #[test]
    fn several_phases_do_and_what_is_missing_is_left_out() {
        let stat = r#"{"name":"stat","is_part":true,"bytes_per_second":null,"latency":null,"procedures":[],"runs":[]}"#;
        let parsed = measured(&format!(r#"{{"results":[{{"phases":[{WRITE}]}},{{"phases":[{stat}]}}]}}"#))
            .expect("read");
        assert_eq!(parsed.figures["write.p50"].value, 0.03);
        assert!(
            !parsed.figures.contains_key("stat.throughput") && !parsed.figures.contains_key("stat.processor")
        );
        assert_eq!(parsed.latencies.keys().collect::<Vec<_>>(), ["write"]);
        assert!(measured("{}").is_err());
    }
}
