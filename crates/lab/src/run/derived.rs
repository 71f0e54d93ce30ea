//! Figures of a cell from those of its clients and its server.

use std::collections::BTreeMap;

use super::Measured;
use crate::record::{RowFigure, unit};
use howdah_workload::measure::Processor;

/// Figures and latencies as a row has them.
pub type Named = (BTreeMap<String, RowFigure>, BTreeMap<String, Vec<(f64, f64)>>);

/// Each client's under `CLIENT.`, a single one's also without; and what they come to together.
pub fn figures(clients: &[(String, Measured)], server: Option<f64>, forwarder: Processor) -> Named {
    let mut figures = BTreeMap::new();
    let mut latencies = BTreeMap::new();
    for (client, measured) in clients {
        for (name, figure) in &measured.figures {
            figures.insert(format!("{client}.{name}"), figure.clone());
            if clients.len() == 1 {
                figures.insert(name.clone(), figure.clone());
            }
        }
        for (phase, pairs) in &measured.latencies {
            let name = if phase.is_empty() { client.clone() } else { format!("{client}.{phase}") };
            latencies.insert(name, pairs.clone());
        }
    }
    let mut total = Measured::default();
    let throughputs = of_each(clients, "throughput");
    if !throughputs.is_empty() {
        total.add("throughput", throughputs.iter().sum(), unit::BYTES_PER_SECOND);
    }
    if throughputs.len() > 1 {
        total.add("fairness", fairness(&throughputs), unit::PART);
    }
    let bytes = of_each(clients, "bytes");
    if !bytes.is_empty() {
        total.add("bytes", bytes.iter().sum(), unit::BYTES);
    }
    if let Some(seconds) = server.filter(|seconds| *seconds > 0.0 && !bytes.is_empty()) {
        total.add(
            "per_processor_second",
            bytes.iter().sum::<f64>() / seconds,
            unit::BYTES_PER_PROCESSOR_SECOND,
        );
    }
    figures.extend(total.figures.into_iter().map(|(name, figure)| (format!("total.{name}"), figure)));
    if let Some(seconds) = server {
        figures.insert("server.processor".to_owned(), RowFigure::new(seconds, unit::SECONDS));
    }
    figures.insert("link.processor".to_owned(), RowFigure::new(forwarder.seconds(), unit::SECONDS));
    (figures, latencies)
}

/// What the clients of the host that got least have of what those of the host that got most have, if there are several hosts.
/// `host`: where a client is.
pub fn between_hosts<'c>(
    clients: &[(String, Measured)],
    host: impl Fn(&str) -> &'c str,
) -> Option<RowFigure> {
    let mut hosts: BTreeMap<&str, f64> = BTreeMap::new();
    for client in clients {
        let throughput: f64 = of_each(std::slice::from_ref(client), "throughput").iter().sum();
        *hosts.entry(host(&client.0)).or_default() += throughput;
    }
    let (least, most) =
        hosts.values().fold((f64::INFINITY, 0.0_f64), |(least, most), &sum| (least.min(sum), most.max(sum)));
    (hosts.len() > 1 && most > 0.0).then(|| RowFigure::new(least / most, unit::PART))
}

/// What each client has of a figure, over all its phases: bytes and seconds are summed, a throughput is bytes by seconds.
fn of_each(clients: &[(String, Measured)], name: &str) -> Vec<f64> {
    let sum = |measured: &Measured, name: &str| -> Option<f64> {
        let suffix = format!(".{name}");
        let found = measured.figures.iter().filter(|(key, _)| *key == name || key.ends_with(&suffix));
        found.map(|(_, figure)| figure.value).reduce(|one, other| one + other)
    };
    let of = |measured: &Measured| match (name, measured.figures.get(name)) {
        ("throughput", None) => Some(sum(measured, "bytes")? / sum(measured, "seconds")?),
        (_, Some(figure)) => Some(figure.value),
        _ => sum(measured, name),
    };
    clients.iter().filter_map(|(_, measured)| of(measured)).collect()
}

/// Jain's index (Jain, Chiu, Hawe 1984): 1 if all get the same, 1/n if one gets all.
fn fairness(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str, bytes: f64) -> (String, Measured) {
        let mut measured = Measured::default();
        measured.add_bytes(bytes, 10.0);
        measured.latencies.insert(String::new(), vec![(0.5, 0.03)]);
        (name.to_owned(), measured)
    }

    #[test]
    fn a_single_client_needs_no_name() {
        let (figures, latencies) = figures(&[client("main", 1e9)], Some(2.0), Processor::default());
        let value = |name: &str| figures[name].value;
        assert_eq!(
            (value("throughput"), value("main.throughput"), value("total.throughput")),
            (1e8, 1e8, 1e8)
        );
        assert_eq!((value("server.processor"), value("total.per_processor_second")), (2.0, 5e8));
        assert!(!figures.contains_key("total.fairness"));
        assert_eq!(latencies["main"], [(0.5, 0.03)]);
    }

    #[test]
    fn phases_follow_each_other() {
        let mut measured = Measured::default();
        for (phase, bytes, seconds) in [("write", 1e9, 10.0), ("read", 1e9, 30.0)] {
            measured.add(&format!("{phase}.bytes"), bytes, unit::BYTES);
            measured.add(&format!("{phase}.seconds"), seconds, unit::SECONDS);
            measured.add(&format!("{phase}.throughput"), bytes / seconds, unit::BYTES_PER_SECOND);
        }
        let (figures, _) = figures(&[("main".to_owned(), measured)], None, Processor::default());
        assert_eq!((figures["total.bytes"].value, figures["total.throughput"].value), (2e9, 5e7));
    }

    #[test]
    fn several_are_summed_and_compared() {
        let clients = [client("a", 48e7), client("b", 48e7), client("c", 48e7)];
        let (even, _) = figures(&clients, None, Processor::default());
        assert_eq!((even["total.throughput"].value, even["total.fairness"].value), (144e6, 1.0));
        assert!(!even.contains_key("throughput") && !even.contains_key("server.processor"));
        let uneven = [client("one-a", 40e7), client("one-b", 50e7), client("two-a", 100e7)];
        let host = |name: &str| if name.starts_with("one") { "one" } else { "two" };
        assert_eq!(between_hosts(&uneven, host).expect("two hosts").value, 0.9);
        assert!(between_hosts(&uneven, |_| "one").is_none());
        // 2004: 90.6/7.3/107.0.
        assert!((fairness(&[90.6, 7.3, 107.0]) - 0.710).abs() < 0.001);
        assert_eq!(fairness(&[1.0, 0.0]), 0.5);
    }
}
