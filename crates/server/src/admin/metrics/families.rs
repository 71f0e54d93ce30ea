//! The families: their names are promises, and `docs/protocols/metrics.md` lists them.

use std::time::Duration;

use super::caps::caps;
use super::connections::{limits, memory};
use super::facts::MetricsFacts;
use super::form::MetricsForm;
use super::host::{exports, process};
use super::kerberos::kerberos;
use super::text::{Kind, MetricsText};
use super::tls::tls;
use super::uplinks::uplinks;
use crate::admin::counts::{by_name, export_name, together};
use crate::counts::{Latency, Row, upper_bound};

/// Every so many of our buckets end in a bound that is written: two doublings, so that a histogram has a dozen.
const BOUND_EVERY: usize = 16;
/// The first of them, some 16 microseconds.
const FIRST_BOUND: usize = 2 * BOUND_EVERY;

/// Writes all of them.
pub fn write(facts: &MetricsFacts, form: MetricsForm) -> String {
    let mut text = MetricsText::new(form);
    server(&mut text, facts);
    tls(&mut text, facts.tls.as_ref());
    kerberos(&mut text, facts.kerberos.as_ref());
    memory(&mut text, facts);
    limits(&mut text, facts);
    caps(&mut text, &facts.caps);
    exports(&mut text, facts);
    uplinks(&mut text, &facts.uplinks);
    by_export(&mut text, facts);
    by_procedure(&mut text, facts);
    clients(&mut text, facts);
    process(&mut text, facts);
    text.finish()
}

fn server(text: &mut MetricsText, facts: &MetricsFacts) {
    text.family("howdah_build_info", Kind::Gauge, None, "Always 1; the version is a label.");
    text.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    if let Some(head) = &facts.head {
        text.family(
            "howdah_head_info",
            Kind::Gauge,
            None,
            "Always 1; the number of this head of a cluster is a label.",
        );
        text.sample(&[("head", head)], 1);
    }
    text.family(
        "howdah_state_unwritable",
        Kind::Gauge,
        None,
        "1 while records of clients cannot be written, else 0; new NFSv4 clients and hosts with locks wait.",
    );
    text.sample(&[], u8::from(facts.is_unwritable));
    text.family("howdah_uptime_seconds", Kind::Gauge, Some("seconds"), "Time since the server started.");
    text.sample(&[], facts.seconds);
    text.family("howdah_connections", Kind::Gauge, None, "TCP connections of clients.");
    text.sample(&[], facts.connections);
    text.family("howdah_clients", Kind::Gauge, None, "Clients with TCP connections (needs tuning = true).");
    text.sample(&[], facts.clients);
    text.family("howdah_workers", Kind::Gauge, None, "Threads that run calls, by what they do now.");
    text.sample(&[("doing", "waiting")], facts.workers.waiting);
    text.sample(&[("doing", "running")], facts.workers.running);
    text.sample(&[("doing", "storage")], facts.workers.in_storage);
    let help = "Calls that wait since their export has as many in its storage as it may.";
    text.family("howdah_calls_in_line", Kind::Gauge, None, help);
    text.sample(&[], facts.calls_in_line);
    text.family("howdah_kept_replies", Kind::Gauge, None, "Replies in the reply cache.");
    text.sample(&[], facts.kept.0);
    text.family("howdah_kept_replies_bytes", Kind::Gauge, Some("bytes"), "Bytes in the reply cache.");
    text.sample(&[], facts.kept.1);
    text.family(
        "howdah_refused_messages",
        Kind::Counter,
        None,
        "Messages that no procedure accepted, by reason.",
    );
    text.sample(&[("reason", "malformed")], facts.unheard.malformed);
    text.sample(&[("reason", "authentication")], facts.unheard.authentication);
    text.sample(&[("reason", "unavailable")], facts.unheard.unavailable);
}

/// A figure of a row.
type Figure = fn(&Row) -> u64;

fn by_export(text: &mut MetricsText, facts: &MetricsFacts) {
    let families: [(&str, Option<&str>, &str, Figure); 3] = [
        ("howdah_calls", None, "Calls, however they ended.", |row| row.figures.calls),
        ("howdah_in_bytes", Some("bytes"), "Bytes of calls.", |row| row.figures.received),
        ("howdah_out_bytes", Some("bytes"), "Bytes of replies.", |row| row.figures.sent),
    ];
    let rows = by_name(facts.rows.clone());
    for (name, unit, help, figure) in families {
        text.family(name, Kind::Counter, unit, help);
        rows.iter().for_each(|row| labelled(row, |labels| text.sample(labels, figure(row))));
    }
    text.family(
        "howdah_storage_seconds",
        Kind::Counter,
        Some("seconds"),
        "Time of calls in the file system; estimated for fast calls that arrive together.",
    );
    for row in &rows {
        labelled(row, |labels| text.sample(labels, seconds(row.figures.storage)));
    }
    text.family("howdah_errors", Kind::Counter, None, "Calls that ended with a status other than OK.");
    for row in &rows {
        labelled(row, |labels| {
            for (status, count) in row.figures.named_errors() {
                text.sample(&[labels, &[("status", status)]].concat(), count);
            }
        });
    }
}

fn by_procedure(text: &mut MetricsText, facts: &MetricsFacts) {
    let rows = together(facts.rows.clone());
    text.family(
        "howdah_replayed_calls",
        Kind::Counter,
        None,
        "Retransmitted calls that were answered from the reply cache.",
    );
    for row in &rows {
        labelled(row, |labels| text.sample(&labels[1..], row.figures.replayed));
    }
    text.family(
        "howdah_call_duration_seconds",
        Kind::Histogram,
        Some("seconds"),
        "From the complete call to its reply handed to the socket, for all exports.",
    );
    for row in &rows {
        let latency = &row.figures.latency;
        labelled(row, |labels| {
            text.histogram(&labels[1..], &bounds(latency), latency.count(), seconds(latency.sum));
        });
    }
}

fn clients(text: &mut MetricsText, facts: &MetricsFacts) {
    if facts.told.is_empty() {
        return;
    }
    let listed: Vec<(String, u64, u64)> =
        facts.told.iter().map(|client| (client.client.to_string(), client.sent, client.received)).collect();
    text.family("howdah_client_out_bytes", Kind::Counter, Some("bytes"), "Sent to a client over TCP.");
    listed.iter().for_each(|(client, sent, _)| text.sample(&[("client", client)], sent));
    text.family("howdah_client_in_bytes", Kind::Counter, Some("bytes"), "Received from a client over TCP.");
    listed.iter().for_each(|(client, _, received)| text.sample(&[("client", client)], received));
}

/// How many stayed below each bound that is written.
fn bounds(latency: &Latency) -> Vec<(f64, u64)> {
    let mut below = 0;
    let sums = latency.buckets.iter().enumerate().filter_map(|(place, calls)| {
        below += calls;
        let is_told = place >= FIRST_BOUND && place % BOUND_EVERY == 0;
        is_told.then(|| upper_bound(place).map(|bound| (seconds(bound), below))).flatten()
    });
    sums.collect()
}

/// Whose figures a row has: the export first, which is left out where all are meant.
fn labelled(row: &Row, write: impl FnOnce(&[(&str, &str)])) {
    let version = row.version.to_string();
    write(&[
        ("export", export_name(&row.export)),
        ("program", row.program),
        ("version", &version),
        ("procedure", row.procedure),
    ]);
}

fn seconds(nanoseconds: u64) -> f64 {
    Duration::from_nanos(nanoseconds).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;

    use howdah_tune::Verdict;
    use howdah_tune::account::Account;
    use howdah_vfs::memory::MemoryFileSystem;

    use super::super::facts::{ClientFacts, TlsFacts};
    use super::*;
    use crate::Reply;
    use crate::admin::process::ProcessUse;
    use crate::admin::uplinks::ExportUplink;
    use crate::caps::{CapReport, CapRule};
    use crate::counts::{Figures, Ledger, Moment, OfExport, Timing, at_export};
    use crate::exports::{Export, Exports};
    use crate::programs::Listed;
    use crate::secure::TlsFigures;
    use crate::service::procedures;
    use crate::uplink::{UplinkCache, UplinkDisk, UplinkReport};

    /// What an answer may weigh with so many clients in it.
    const CLIENTS: u32 = 1000;
    const SIZE_MAX: usize = 400_000;

    /// All that can limit a connection.
    const WORDS: [Verdict; 13] = [
        Verdict::Idle,
        Verdict::ClientSlots,
        Verdict::ClientSendBuffer,
        Verdict::Storage,
        Verdict::Processor,
        Verdict::Encrypting,
        Verdict::Capped,
        Verdict::SendBuffer,
        Verdict::PeerWindow,
        Verdict::OurWindow,
        Verdict::Loss,
        Verdict::PathFull,
        Verdict::Ramping,
    ];

    /// A petabyte.
    const MUCH: u64 = 1_000_000_000_000_000;
    /// What one client of a thousand moves: a hundred terabytes.
    const MUCH_FOR_ONE: u64 = MUCH / 10;

    /// Every procedure of NFS on one export, with latencies all over. Clients of IPv6 are shown by their networks.
    fn facts(clients: u32) -> MetricsFacts {
        let all = procedures();
        let nfs = all.iter().filter(|listed| listed.program == "nfs" && !listed.procedure.name.is_empty());
        let export = OfExport::Named { id: 1, name: "/srv/data".to_owned() };
        let rows = nfs.zip(0..).map(|(listed, place)| {
            let mut figures =
                Figures { calls: MUCH, sent: MUCH, received: MUCH, storage: MUCH, ..Figures::default() };
            figures.latency.sum = MUCH;
            figures.latency.buckets.fill(MUCH / 1000);
            figures.errors[1] = 7;
            let Listed { program, version, procedure } = *listed;
            Row { place, export: export.clone(), program, version, procedure: procedure.name, figures }
        });
        let told = (0..clients).map(|client| ClientFacts {
            client: IpAddr::from((0x2001_0db8_0001_0000_u128 << 64 | u128::from(client) << 64).to_be_bytes()),
            sent: MUCH_FOR_ONE,
            received: MUCH_FOR_ONE,
        });
        let verdicts = || WORDS.iter().map(|verdict| (*verdict, Duration::from_nanos(MUCH + 1))).collect();
        let account = Account { sending: verdicts(), receiving: verdicts(), ..Account::default() };
        let process = Some(ProcessUse { most_files: Some(1024), ..ProcessUse::default() });
        let tls = Some(TlsFacts {
            expiry: Some(0),
            handshakes: TlsFigures::default().counts(),
            ..TlsFacts::default()
        });
        let (cache, disk) = (Some(UplinkCache::default()), Some(UplinkDisk::default()));
        let uplink = UplinkReport { cache, disk, ..UplinkReport::default() };
        let uplinks = vec![ExportUplink { export: "/far".to_owned(), uplink }];
        let (rows, told) = (rows.collect(), told.collect());
        let head = Some("0123456789abcdef".to_owned());
        let kerberos = Some(Default::default());
        let rule = CapRule {
            name: "backup".to_owned(),
            clients: Vec::new(),
            exports: Vec::new(),
            per_client: false,
            read: Some(1),
            write: None,
            calls: None,
            burst: CapRule::BURST,
        };
        let caps = vec![CapReport { rule, held_calls: 1, held: Duration::from_secs(1) }];
        MetricsFacts {
            rows,
            told,
            account,
            process,
            tls,
            kerberos,
            uplinks,
            head,
            caps,
            ..MetricsFacts::default()
        }
    }

    #[test]
    fn a_thousand_clients_fit() {
        for form in [MetricsForm::OpenMetrics, MetricsForm::Prometheus] {
            let text = write(&facts(CLIENTS), form);
            assert!(text.contains("howdah_client_out_bytes_total{client=\"2001:db8:1:3e7::\"} "), "{text}");
            assert!(text.len() < SIZE_MAX, "{} bytes", text.len());
        }
        assert!(
            !write(&facts(0), MetricsForm::OpenMetrics).contains("client="),
            "no client is shown unasked"
        );
    }

    fn comes_once(text: &str) {
        let names = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.rsplit_once(' '));
        let mut names: Vec<&str> = names.map(|line| line.expect("a value").0).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{text}");
    }

    #[test]
    fn no_line_comes_twice_and_bounds_grow() {
        comes_once(&write(&facts(3), MetricsForm::OpenMetrics));
        let bounds = bounds(&facts(0).rows[0].figures.latency);
        assert!(bounds.is_sorted_by(|one, two| one.0 < two.0 && one.1 < two.1), "{bounds:?}");
        assert!((10..=14).contains(&bounds.len()) && bounds[0].0 < 2e-5, "{bounds:?}");
    }

    #[test]
    fn exports_that_had_one_name_after_each_other_are_one_series_that_never_goes_back() {
        let ledger = Ledger::new(procedures());
        let mut clerk = ledger.clerk();
        for id in [1, 2] {
            let export = Export::new("/a", id, Arc::new(MemoryFileSystem::new()), Vec::new());
            let exports = Exports::new(vec![export], [0; 16]).expect("it is alone");
            ledger.admit(&exports);
            let timing = Timing { arrived: Moment::now(), received: 100, is_first: false };
            clerk.start(&timing);
            at_export(exports.iter().next().expect("one").place());
            clerk.end(1, &timing, Some(&mut Reply::with_buffer(Vec::new())));
        }
        let text =
            write(&MetricsFacts { rows: ledger.rows(), ..MetricsFacts::default() }, MetricsForm::Prometheus);
        comes_once(&text);
        let series =
            "howdah_in_bytes_total{export=\"/a\",program=\"nfs\",version=\"3\",procedure=\"GETATTR\"} 200";
        assert!(text.contains(series), "{text}");
    }

    #[test]
    fn every_family_is_documented() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocols/metrics.md");
        let documented = std::fs::read_to_string(file).expect("it is there");
        let mut documented: Vec<&str> =
            documented.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let text = write(&facts(1), MetricsForm::Prometheus);
        let mut names: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next()).collect();
        documented.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, documented, "left: in the answer, right: in docs/protocols/metrics.md");
    }
}
