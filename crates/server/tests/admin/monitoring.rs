//! The dashboard and the alerts that come with the server ask for figures that it has.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use howdah_needs::{Lack, skipped};
use howdah_server::admin::MetricsSettings;
use serde_json::Value;

use crate::ask::Asked;
use crate::common::{getattr, root};

const PATIENCE: Duration = Duration::from_secs(60);
/// It is part of Debian's `prometheus`.
const PROMTOOL: &str = "promtool";
const RULES: &str = "prometheus/howdah.rules.yml";
const RULES_TEST: &str = "prometheus/howdah.rules.test.yml";
const DASHBOARD: &str = "grafana/howdah.json";

fn packaged(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging")).join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(packaged(name)).expect("it is there")
}

/// The metrics of a live server, with a client that is shown by name, in Prometheus' older form.
fn scraped() -> String {
    let asked = Asked::telling(MetricsSettings { clients: 10 });
    let mut stream = TcpStream::connect(asked.address).expect("connected");
    let handle = root(&asked.server);
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(getattr(&mut stream, &handle).is_ok());
        let mut monitor = TcpStream::connect(asked.metrics).expect("it listens");
        write!(monitor, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
        let mut text = String::new();
        monitor.read_to_string(&mut text).expect("answered");
        let text = text.split_once("\r\n\r\n").expect("a head").1.to_owned();
        if text.contains("howdah_client_out_bytes_total{") && text.contains("verdict=") {
            return text;
        }
        assert!(Instant::now() < deadline, "never shown: {text}");
    }
}

/// Words that start with the name of the server.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("howdah_")).map(str::to_owned).collect()
}

/// What may be asked for: names of samples, and those of families that have none for want of errors.
fn offered(scraped: &str) -> BTreeSet<String> {
    let samples = scraped.lines().filter(|line| !line.starts_with('#'));
    let samples = samples.filter_map(|line| line.split(['{', ' ']).next());
    let families = scraped.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    samples.chain(families).map(str::to_owned).collect()
}

/// Every expression of the dashboard.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|field| expressions(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

/// What promtool says of this, unless it is not installed.
fn promtool(arguments: &[&str], input: &str) -> Option<(bool, String)> {
    let mut command = Command::new(PROMTOOL);
    let command = command.args(arguments).current_dir(packaged("prometheus"));
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        skipped(Lack::Program, format_args!("there is no {PROMTOOL}"));
        return None;
    };
    // It may end without reading.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

#[test]
fn every_figure_that_is_asked_for_is_told() {
    let scraped = scraped();
    let offered = offered(&scraped);
    for file in [RULES, DASHBOARD] {
        let asked = names(&read(file));
        assert!(asked.len() > 8, "{file} asks for {asked:?} alone");
        let unknown: Vec<&String> = asked.difference(&offered).collect();
        assert!(unknown.is_empty(), "{file} asks for {unknown:?}, which is no metric");
    }
    if let Some((is_good, said)) = promtool(&["check", "metrics"], &scraped) {
        assert!(is_good, "{said}");
    }
}

#[test]
fn the_alerts_say_what_they_should() {
    for (what, file) in [("check", RULES), ("test", RULES_TEST)] {
        let file = packaged(file);
        let said = promtool(&[what, "rules", file.to_str().expect("text")], "");
        assert!(said.as_ref().is_none_or(|(is_good, _)| *is_good), "{said:?}");
    }
}

#[test]
fn the_dashboard_is_one() {
    let dashboard: Value = serde_json::from_str(&read(DASHBOARD)).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each has an id of its own");
    for panel in panels {
        let place = |field: &str| panel["gridPos"][field].as_u64().expect("a place");
        assert!(place("x") + place("w") <= 24, "{} is as wide as the page", panel["title"]);
    }
    let mut found = Vec::new();
    expressions(&dashboard, &mut found);
    assert!(found.len() > 20, "{found:?}");
    // As Grafana fills them in, they are expressions of Prometheus: rules with each say so.
    let filled = |text: &str| {
        text.replace("$__rate_interval", "5m").replace("$instance", ".*").replace("$export", ".*")
    };
    let records = found
        .iter()
        .enumerate()
        .map(|(place, text)| serde_json::json!({"record": format!("panel:{place}"), "expr": filled(text)}));
    let rules = serde_json::json!({"groups": [{"name": "panels", "rules": records.collect::<Vec<_>>()}]});
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), rules.to_string()).expect("written");
    // JSON is YAML.
    let said = promtool(&["check", "rules", file.path().to_str().expect("text")], "");
    assert!(said.as_ref().is_none_or(|(is_good, _)| *is_good), "{said:?}");
}
