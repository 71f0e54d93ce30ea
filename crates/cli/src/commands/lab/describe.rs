//! Paths and what they did, in words and tables.

use howdah_lab::network::{LabNetwork, Wire, WireCounters};
use howdah_link::{DirectionSpec, Tally};
use serde::Serialize;
use toml::ser::ValueSerializer;

/// A direction in one line, in a plan's words: an inline table of TOML without its braces.
pub fn direction(spec: &DirectionSpec) -> String {
    let mut text = String::new();
    let inline = spec.serialize(ValueSerializer::new(&mut text)).map(|_| ());
    inline.expect("a direction has keys and values that TOML can hold");
    match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).map(str::trim) {
        None | Some("") => "perfect".to_owned(),
        Some(pairs) => pairs.to_owned(),
    }
}

/// What a network is like and how to reach its hosts.
pub fn network(network: &LabNetwork, wire: &Wire, id: &str, here: &str) -> String {
    let path = &wire.spec().path;
    let [first, second] = &wire.spec().between;
    let mut text = format!(
        "path {first} -> {second}: {}\npath {second} -> {first}: {}\n",
        direction(&path.there),
        direction(&path.back)
    );
    for host in network.hosts().values() {
        let addresses: Vec<String> = host
            .addresses()
            .values()
            .flat_map(|addresses| addresses.all())
            .map(|one| one.to_string())
            .collect();
        let mark = if host.name() == here { "   (here)" } else { "" };
        text += &format!("host {:<8} {}{mark}\n", host.name(), addresses.join("  "));
    }
    let other = network.hosts().keys().find(|name| *name != here).map_or("server", String::as_str);
    text += &format!("on the other host:      ip netns exec {other} COMMAND\n");
    text + &format!("from another terminal:  howdah lab shell --join {id} --host {other}")
}

/// What a wire did to packets.
pub fn counters(counters: &WireCounters, between: &[String; 2]) -> String {
    let mut text = format!(
        "{:<22} {:>14} {:>14} {:>10} {:>10} {:>10}",
        "packets (MB)", "in", "out", "dropped", "copied", "held back"
    );
    let [first, second] = between;
    for (way, (_, direction)) in
        [format!("{first} -> {second}"), format!("{second} -> {first}")].iter().zip(counters.directions())
    {
        text += &format!("\n{way}");
        for element in &direction.elements {
            let counters = &element.counters;
            text += &format!(
                "\n  {:<20} {:>14} {:>14} {:>10} {:>10} {:>10}",
                element.name,
                amount(&counters.arrived),
                amount(&counters.left),
                counters.dropped.packets,
                counters.copied.packets,
                counters.held_back.packets
            );
        }
        let late = &direction.late;
        if late.most > 0 {
            let [half, most] = [0.5, 0.99].map(|part| howdah_units::time(late.quantile(part)));
            text += &format!(
                "\n  later than due by at most {half} (p50), {most} (p99); \
                 {:.2} % on time to 0.2 ms",
                late.exact().unwrap_or(1.0) * 100.0
            );
        }
    }
    text
}

fn amount(tally: &Tally) -> String {
    format!("{} ({:.1})", tally.packets, tally.bytes as f64 / 1e6)
}
