//! A time series as traces: one quantity, at one end of one connection or in one direction of a wire.

use std::collections::BTreeMap;

use crate::record::{ConnectionSample, LinkSample, SeriesLine, unit};

/// At which end of a connection a quantity is looked at, if the plan does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Where most of the data comes from: its window and buffer are what counts.
    Sender,
    /// Where it goes to.
    Receiver,
}

/// How a quantity of a connection is read.
struct Quantity {
    name: &'static str,
    /// What its axis is called; those of one name share a panel.
    axis: &'static str,
    unit: &'static str,
    end: End,
    read: fn(&ConnectionSample) -> Option<f64>,
}

const fn quantity(
    name: &'static str,
    axis: &'static str,
    unit: &'static str,
    end: End,
    read: fn(&ConnectionSample) -> Option<f64>,
) -> Quantity {
    Quantity { name, axis, unit, end, read }
}

fn number(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

const DATA: &str = "Data";
const TIME_BACK: &str = "Time held back, since the beginning";

const QUANTITIES: [Quantity; 16] = [
    quantity("window", DATA, unit::BYTES, End::Sender, |s| number(s.window)),
    quantity("flight", DATA, unit::BYTES, End::Sender, |s| number(s.flight)),
    quantity("send buffer", DATA, unit::BYTES, End::Sender, |s| number(s.send_buffer)),
    quantity("send queue", DATA, unit::BYTES, End::Sender, |s| number(s.send_queue)),
    quantity("send window", DATA, unit::BYTES, End::Sender, |s| number(s.send_window)),
    quantity("receive buffer", DATA, unit::BYTES, End::Receiver, |s| number(s.receive_buffer)),
    quantity("receive queue", DATA, unit::BYTES, End::Receiver, |s| number(s.receive_queue)),
    quantity("receive window", DATA, unit::BYTES, End::Receiver, |s| number(s.receive_window)),
    quantity("rtt", "Round trip", unit::SECONDS, End::Sender, |s| s.rtt),
    quantity("min rtt", "Round trip", unit::SECONDS, End::Sender, |s| s.min_rtt),
    quantity("delivery rate", "Rate", unit::BYTES_PER_SECOND, End::Sender, |s| number(s.delivery_rate)),
    quantity(THROUGHPUT, "Rate", unit::BYTES_PER_SECOND, End::Sender, |s| number(s.bytes_acked)),
    quantity("retransmitted", "Segments sent again", unit::COUNT, End::Sender, |s| number(s.retransmitted)),
    quantity("rwnd limited", TIME_BACK, unit::SECONDS, End::Sender, |s| s.rwnd_limited),
    quantity("sndbuf limited", TIME_BACK, unit::SECONDS, End::Sender, |s| s.sndbuf_limited),
    quantity("busy", TIME_BACK, unit::SECONDS, End::Sender, |s| s.busy),
];

/// What a plan calls what waits in the link.
const QUEUE: &str = "queue";
/// What a plan calls acknowledged bytes over the time between two samples.
const THROUGHPUT: &str = "throughput";
/// What is in these elements is on its way and does not wait.
const NO_QUEUES: [&str; 2] = ["delay", "jitter"];

/// A queue that never held more than this part of the fullest one held nothing, and a connection that moved less of the
/// busiest one is idle.
const NOTHING: f64 = 0.02;

/// One line of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// What it is of, where.
    pub name: String,
    /// The name of its axis.
    pub axis: &'static str,
    /// Of its values.
    pub unit: &'static str,
    /// Seconds and values.
    pub points: Vec<(f64, f64)>,
}

impl Trace {
    /// Its largest value.
    pub fn most(&self) -> f64 {
        self.points.iter().map(|(_, value)| *value).fold(0.0, f64::max)
    }
}

/// The traces of what is to be shown, of at most so many connections (the busiest); and how many more there are.
pub fn traces(lines: &[SeriesLine], show: &[String], host: Option<&str>, most: usize) -> (Vec<Trace>, usize) {
    let connections = Connection::all(lines);
    let busiest = connections.first().map_or(0, Connection::moved);
    let idle = |connection: &Connection| (connection.moved() as f64) < busiest as f64 * NOTHING;
    let busy = connections.iter().position(idle).unwrap_or(connections.len());
    let kept = &connections[..busy.min(most)];
    let several = kept.len() > 1;
    let mut traces = Vec::new();
    for shown in show {
        if shown == QUEUE {
            traces.extend(queues(lines));
        }
        if let Some(quantity) = QUANTITIES.iter().find(|quantity| quantity.name == shown) {
            traces.extend(kept.iter().filter_map(|connection| connection.trace(quantity, host, several)));
        }
    }
    (traces, connections.len() - kept.len())
}

/// How many lines one connection takes in the fullest panel.
pub fn lines_of_connection(show: &[String]) -> usize {
    let axis = |shown: &String| {
        QUANTITIES.iter().find(|quantity| quantity.name == shown).map(|quantity| quantity.axis)
    };
    let counted = show.iter().filter_map(axis).fold(BTreeMap::new(), |mut counted, axis| {
        *counted.entry(axis).or_insert(0) += 1;
        counted
    });
    counted.into_values().max().unwrap_or(1)
}

/// A connection with the samples of its ends.
struct Connection<'a> {
    /// The address of the end that called, or another name of its own.
    name: String,
    /// By host.
    ends: BTreeMap<&'a str, Vec<&'a ConnectionSample>>,
}

impl<'a> Connection<'a> {
    /// All of them, those that moved most first.
    fn all(lines: &'a [SeriesLine]) -> Vec<Self> {
        let mut found: BTreeMap<(&str, &str), Self> = BTreeMap::new();
        for sample in lines.iter().filter_map(SeriesLine::connection) {
            let (here, there) = sample.connection.split_once('-').unwrap_or((&sample.connection, ""));
            let caller = if sample.host == SERVER { there } else { here };
            let connection = found.entry((here.min(there), here.max(there)));
            let connection =
                connection.or_insert_with(|| Self { name: caller.to_owned(), ends: BTreeMap::new() });
            connection.ends.entry(&sample.host).or_default().push(sample);
        }
        let mut all: Vec<Self> = found.into_values().collect();
        all.sort_by_key(|connection| std::cmp::Reverse(connection.moved()));
        all
    }

    fn moved(&self) -> u64 {
        self.ends.values().map(|samples| acknowledged(samples)).max().unwrap_or(0)
    }

    /// The samples of the end at which a quantity counts.
    fn end(&self, quantity: &Quantity, host: Option<&str>) -> Option<(&'a str, &[&'a ConnectionSample])> {
        let mut ends: Vec<(&'a str, &[&ConnectionSample])> =
            self.ends.iter().map(|(host, samples)| (*host, samples.as_slice())).collect();
        if let Some(host) = host {
            return ends.into_iter().find(|(known, _)| *known == host);
        }
        ends.sort_by_key(|(_, samples)| acknowledged(samples));
        match quantity.end {
            End::Sender => ends.pop(),
            End::Receiver => ends.into_iter().next(),
        }
    }

    fn trace(&self, quantity: &Quantity, host: Option<&str>, several: bool) -> Option<Trace> {
        let (host, samples) = self.end(quantity, host)?;
        let points = samples.iter().filter_map(|sample| Some((sample.at, (quantity.read)(sample)?)));
        let points: Vec<(f64, f64)> =
            points.filter(|(at, value)| at.is_finite() && value.is_finite()).collect();
        let points = if quantity.name == THROUGHPUT { per_second(&points) } else { points };
        let which = if several { format!(" · {}", self.name) } else { String::new() };
        let name = format!("{} at {host}{which}", quantity.name);
        (!points.is_empty()).then_some(Trace { name, axis: quantity.axis, unit: quantity.unit, points })
    }
}

/// The host that serves, in plans.
const SERVER: &str = "server";

impl SeriesLine {
    fn connection(&self) -> Option<&ConnectionSample> {
        match self {
            Self::Connection(sample) => Some(sample),
            Self::Link(_) | Self::Verdict(_) => None,
        }
    }
}

fn acknowledged(samples: &[&ConnectionSample]) -> u64 {
    samples.iter().filter_map(|sample| sample.bytes_acked).max().unwrap_or(0)
}

/// The slope between neighbours.
fn per_second(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let slope = |pair: &[(f64, f64)]| {
        let (time, amount) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        (time > 0.0).then_some((pair[1].0, amount.max(0.0) / time))
    };
    points.windows(2).filter_map(slope).collect()
}

/// What waits in each direction of each wire; those that held next to nothing are left out.
fn queues(lines: &[SeriesLine]) -> Vec<Trace> {
    let mut wires: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for line in lines {
        let SeriesLine::Link(LinkSample { at, wire, direction, element, queued_bytes, .. }) = line else {
            continue;
        };
        if NO_QUEUES.iter().any(|name| element.starts_with(name)) || !at.is_finite() {
            continue;
        }
        let points = wires.entry((wire, direction)).or_default();
        match points.last_mut() {
            Some((last, bytes)) if *last == *at => *bytes += *queued_bytes as f64,
            _ => points.push((*at, *queued_bytes as f64)),
        }
    }
    let trace = |((wire, direction), points): ((&str, &str), Vec<(f64, f64)>)| Trace {
        name: format!("queue of {wire}, {direction}"),
        axis: "Queue of the link",
        unit: unit::BYTES,
        points,
    };
    let mut traces: Vec<Trace> = wires.into_iter().map(trace).collect();
    let most = traces.iter().map(Trace::most).fold(0.0, f64::max);
    traces.retain(|trace| trace.most() > most * NOTHING);
    traces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: f64, host: &str, connection: &str, acked: u64) -> SeriesLine {
        SeriesLine::Connection(ConnectionSample {
            at,
            host: host.to_owned(),
            connection: connection.to_owned(),
            window: Some(acked / 2),
            receive_buffer: Some(6_000),
            bytes_acked: Some(acked),
            ..ConnectionSample::default()
        })
    }

    #[test]
    fn windows_are_the_senders_and_buffers_the_receivers() {
        let lines = [
            sample(0.0, "client", "10.77.0.2:801-10.77.0.1:2049", 10),
            sample(0.0, "server", "10.77.0.1:2049-10.77.0.2:801", 10_000),
            sample(1.0, "client", "10.77.0.2:801-10.77.0.1:2049", 20),
            sample(1.0, "server", "10.77.0.1:2049-10.77.0.2:801", 60_000),
        ];
        let show = ["window", "receive buffer", "throughput"].map(str::to_owned);
        let (traces, more) = traces(&lines, &show, None, 3);
        let names: Vec<&str> = traces.iter().map(|trace| trace.name.as_str()).collect();
        assert_eq!(names, ["window at server", "receive buffer at client", "throughput at server"]);
        assert_eq!((traces[2].points.as_slice(), more), ([(1.0, 50_000.0)].as_slice(), 0));
        assert_eq!(lines_of_connection(&show), 2);
    }

    #[test]
    fn the_busiest_connections_are_shown_and_told_apart() {
        let ends = |port: u32| format!("10.77.0.2:{port}-10.77.0.1:2049");
        let lines: Vec<SeriesLine> = [(801, 5), (802, 50), (803, 500)]
            .map(|(port, acked)| sample(0.0, "client", &ends(port), acked))
            .into();
        let (found, more) = traces(&lines, &["window".to_owned()], Some("client"), 2);
        let names: Vec<&str> = found.iter().map(|trace| trace.name.as_str()).collect();
        assert_eq!(names, ["window at client · 10.77.0.2:803", "window at client · 10.77.0.2:802"]);
        assert_eq!(more, 1);
        let (found, more) = traces(&lines, &["window".to_owned()], Some("client"), 3);
        assert_eq!((found.len(), more), (2, 1), "the one that moved a hundredth is idle");
        assert_eq!(traces(&lines, &["window".to_owned()], Some("elsewhere"), 2).0, []);
    }

    #[test]
    fn what_is_on_its_way_does_not_wait() {
        let element = |at, element: &str, queued_bytes| {
            let (wire, direction) = ("path0".to_owned(), "there".to_owned());
            SeriesLine::Link(LinkSample {
                at,
                wire,
                direction,
                element: element.to_owned(),
                queued_bytes,
                ..LinkSample::default()
            })
        };
        let lines = [
            element(0.0, "delay", 9_000),
            element(0.0, "rate", 700),
            element(1.0, "delay", 1),
            element(1.0, "rate", 800),
        ];
        let (traces, _) = traces(&lines, &["queue".to_owned()], None, 3);
        assert_eq!(traces.len(), 1);
        assert_eq!(traces[0].points, [(0.0, 700.0), (1.0, 800.0)]);
    }
}
