//! What a server was asked and how long it took, as people read it: in 80 columns.

use std::fmt::Write;

use howdah_server::admin::{Export, Procedure, Unheard, Workers};
use howdah_units::{bytes, narrow_time};

/// What is shown.
#[derive(Debug, Default)]
pub struct Counted {
    /// How long it was counted.
    pub seconds: f64,
    /// Whether rates are meant, and not sums.
    pub is_rate: bool,
    /// By procedure.
    pub procedures: Vec<Procedure>,
    /// By export and procedure, if all are meant.
    pub exports: Vec<Export>,
    /// What came to no procedure, since the start.
    pub unheard: Unheard,
    /// What workers do now.
    pub workers: Workers,
}

/// A table of procedures, one of exports where there are several, errors, and what workers do.
pub fn counted(counted: &Counted) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    if !counted.is_rate {
        let _ = writeln!(text, "in {}:", narrow_time(counted.seconds));
    }
    if counted.procedures.is_empty() {
        text.push_str("no calls\n");
    } else {
        text.push_str(&table("procedure", counted, rows(&counted.procedures)));
    }
    let busy = counted.exports.iter().filter(|export| !export.procedures.is_empty());
    let busy: Vec<(String, Procedure)> =
        busy.map(|export| (export.export.clone(), sum(&export.procedures))).collect();
    if busy.iter().filter(|(name, _)| name.starts_with('/')).count() > 1 {
        let _ = write!(text, "\n{}", table("export", counted, busy));
    }
    text.push_str(&errors(&counted.procedures));
    if !counted.is_rate {
        text.push_str(&unheard(counted.unheard));
    }
    text.push_str(&workers(&counted.workers));
    text
}

/// The busiest first.
fn rows(procedures: &[Procedure]) -> Vec<(String, Procedure)> {
    let mut rows: Vec<(String, Procedure)> =
        procedures.iter().map(|procedure| (name(procedure), procedure.clone())).collect();
    rows.sort_by_key(|(_, procedure)| std::cmp::Reverse(procedure.calls));
    if rows.len() > 1 {
        rows.push(("all".to_owned(), sum(procedures)));
    }
    rows
}

fn sum(procedures: &[Procedure]) -> Procedure {
    let mut sum = Procedure::default();
    procedures.iter().for_each(|procedure| sum.add(procedure));
    sum
}

fn name(procedure: &Procedure) -> String {
    let name = &procedure.procedure;
    match procedure.program.as_str() {
        "nfs" => name.clone(),
        "mountd" => format!("mount {name}"),
        "nlockmgr" => format!("nlm {name}"),
        "status" => format!("nsm {name}"),
        "rquotad" => format!("rquota {name}"),
        _ => format!("rpcb {name}"),
    }
}

fn table(what: &str, counted: &Counted, rows: Vec<(String, Procedure)>) -> String {
    let per = |name: &str| if counted.is_rate { format!("{name}/s") } else { name.to_owned() };
    let mut text = format!(
        "{what:<13} {:>9} {:>4} {:>6} {:>6} {:>6} {:>6} {:>4} {:>8} {:>8}\n",
        per("calls"),
        "part",
        "errors",
        "mean",
        "p50",
        "p99",
        "stor",
        per("in"),
        per("out"),
    );
    let all: u64 = counted.procedures.iter().map(|procedure| procedure.calls).sum();
    let seconds = if counted.is_rate { counted.seconds } else { 1.0 };
    for (name, procedure) in rows {
        let latency = &procedure.latency;
        let errors: u64 = procedure.errors.values().sum();
        let _ = writeln!(
            text,
            "{name:<13} {:>9} {:>4} {:>6} {:>6} {:>6} {:>6} {:>4} {:>8} {:>8}",
            rate(procedure.calls as f64 / seconds, counted.is_rate),
            percent(procedure.calls as f64, all as f64),
            rate(errors as f64 / seconds, counted.is_rate),
            latency.mean_seconds().map_or("-".into(), narrow_time),
            latency.p50_seconds.map_or("-".into(), narrow_time),
            latency.p99_seconds.map_or("-".into(), narrow_time),
            percent(procedure.storage_seconds, latency.seconds),
            bytes(procedure.received as f64 / seconds),
            bytes(procedure.sent as f64 / seconds),
        );
    }
    text
}

fn errors(procedures: &[Procedure]) -> String {
    let refused = procedures.iter().filter(|procedure| !procedure.errors.is_empty()).map(|procedure| {
        let each = procedure.errors.iter().map(|(name, count)| format!("{count} {name}"));
        format!("{}: {}", name(procedure), each.collect::<Vec<_>>().join(", "))
    });
    let refused: Vec<String> = refused.collect();
    let mut text = String::new();
    if !refused.is_empty() {
        let _ = writeln!(text, "\nerrors: {}", refused.join("; "));
    }
    let again: u64 = procedures.iter().map(|procedure| procedure.replayed).sum();
    let unanswered: u64 = procedures.iter().map(|procedure| procedure.unanswered).sum();
    if again + unanswered > 0 {
        let _ = writeln!(
            text,
            "retransmitted by clients: {again} answered from the reply cache, {unanswered} not answered (the first call still ran)"
        );
    }
    text
}

fn unheard(unheard: Unheard) -> String {
    let each = [
        (unheard.malformed, "malformed"),
        (unheard.authentication, "with invalid credentials"),
        (unheard.unavailable, "for programs or versions that are not served"),
    ];
    let refusals: Vec<String> =
        each.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if refusals.is_empty() { String::new() } else { format!("refused: {}\n", refusals.join(", ")) }
}

fn workers(workers: &Workers) -> String {
    let Workers { waiting, running, in_storage, calls_in_line, .. } = workers;
    let line = format!("workers: {waiting} wait for calls, {running} run, {in_storage} in storage\n");
    if *calls_in_line == 0 { line } else { format!("{line}in line for storage: {calls_in_line} calls\n") }
}

/// A count, or so many per second, in nine characters.
fn rate(number: f64, is_rate: bool) -> String {
    match number {
        number if number >= 1e9 => format!("{:.0}M", number / 1e6),
        number if is_rate && number > 0.0 && number < 10.0 => format!("{number:.1}"),
        number => format!("{number:.0}"),
    }
}

fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.0}%", (part / whole * 100.0).min(100.0)) } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use howdah_server::admin::{Bucket, Latency};
    use howdah_top::{exports_since, since};
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn procedure(name: &str, calls: u64, seconds: f64) -> Procedure {
        let buckets = vec![Bucket { below_seconds: Some(seconds * 1.1), calls }];
        let latency = Latency {
            calls,
            seconds: calls as f64 * seconds,
            p50_seconds: Some(seconds),
            p90_seconds: Some(seconds),
            p99_seconds: Some(seconds * 12.0),
            buckets,
        };
        Procedure {
            program: "nfs".to_owned(),
            version: 3,
            procedure: name.to_owned(),
            calls,
            received: calls * 120,
            sent: calls * 112,
            storage_seconds: calls as f64 * seconds / 4.0,
            latency,
            ..Procedure::default()
        }
    }

    #[test]
    fn it_fits_eighty_columns() {
        let mut lookup = procedure("LOOKUP", 3_000_000_000, 1.3e-5);
        lookup.errors = [("NOENT".to_owned(), 120_000), ("ACCES".to_owned(), 1)].into();
        lookup.replayed = 7;
        let mut shown = Counted {
            seconds: 7260.0,
            procedures: vec![procedure("READDIRPLUS", 999_999_999, 0.123), lookup],
            workers: Workers { workers: 32, waiting: 30, running: 1, in_storage: 1, ..Workers::default() },
            unheard: Unheard { unavailable: 3, ..Unheard::default() },
            ..Counted::default()
        };
        let text = counted(&shown);
        assert!(text.lines().take(4).all(|line| line.chars().count() <= 80), "{text}");
        assert_data_eq!(
            &text,
            str![[r#"
in 2.0h:
procedure         calls part errors   mean    p50    p99 stor       in      out
LOOKUP            3000M  75% 120001   13µs   13µs  156µs  25% 360.0 GB 336.0 GB
READDIRPLUS   999999999  25%      0  123ms  123ms   1.5s  25% 120.0 GB 112.0 GB
all               4000M 100% 120001   31ms   14µs  150ms  25% 480.0 GB 448.0 GB

errors: LOOKUP: 1 ACCES, 120000 NOENT
retransmitted by clients: 7 answered from the reply cache, 0 not answered (the first call still ran)
refused: 3 for programs or versions that are not served
workers: 30 wait for calls, 1 run, 1 in storage

"#]]
        );
        let exports = ["/a", "/b"].map(|name| Export {
            export: name.to_owned(),
            id: Some(1),
            gone: None,
            capacity: None,
            procedures: vec![procedure("READ", 15, 2e-3)],
        });
        shown.workers.calls_in_line = 4;
        shown = Counted {
            seconds: 10.0,
            is_rate: true,
            procedures: vec![procedure("READ", 30, 2e-3)],
            exports: exports.into(),
            ..shown
        };
        assert_data_eq!(
            counted(&shown),
            str![[r#"
procedure       calls/s part errors   mean    p50    p99 stor     in/s    out/s
READ                3.0 100%      0  2.0ms  2.0ms   24ms  25%    360 B    336 B

export          calls/s part errors   mean    p50    p99 stor     in/s    out/s
/a                  1.5  50%      0  2.0ms  2.2ms  2.4ms  25%    180 B    168 B
/b                  1.5  50%      0  2.0ms  2.2ms  2.4ms  25%    180 B    168 B
workers: 30 wait for calls, 1 run, 1 in storage
in line for storage: 4 calls

"#]]
        );
    }

    #[test]
    fn only_what_was_called_in_between_is_told() {
        let now = [procedure("READ", 30, 1e-3), procedure("WRITE", 5, 1e-3)];
        let before = [procedure("READ", 20, 1e-3), procedure("WRITE", 5, 1e-3)];
        let since = since(&now, Some(&before));
        assert_eq!(since.len(), 1);
        assert_eq!((since[0].procedure.as_str(), since[0].calls), ("READ", 10));
    }
    #[test]
    fn an_export_that_took_the_name_of_another_is_added_to_it_and_not_taken_for_it() {
        let export = |id, calls| Export {
            export: "/a".to_owned(),
            id: Some(id),
            gone: None,
            capacity: None,
            procedures: vec![procedure("READ", calls, 1e-3)],
        };
        let calls = |now: &[Export], before: &[Export]| {
            let since = exports_since(now, before);
            assert_eq!((since.len(), since[0].id), (1, Some(2)), "{since:?}");
            assert!(since[0].procedures.len() <= 1, "{since:?}");
            sum(&since[0].procedures).calls
        };
        let now = [export(1, 1000), export(2, 30)];
        assert_eq!(calls(&now, &[]), 1030, "since the start");
        assert_eq!(calls(&now, &[export(1, 1000)]), 30, "it is new");
        assert_eq!(calls(&now, &[export(1, 990), export(2, 20)]), 20);
    }
}
