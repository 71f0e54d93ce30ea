//! What the doctor found, as people read it, and as JSON.

use std::fmt::Write;

use howdah_doctor::facts::Facts;
use howdah_doctor::{Figure, Finding, Remedy, Report, RungReport, Verdict};
use serde_json::{Value, json};

/// Columns of a line.
const WIDTH: usize = 80;
/// How far figures begin, at most, behind their names.
const NAME: usize = 32;

/// The verdict, the rungs, and what to do.
pub fn doctor(report: &Report) -> String {
    let mut text = wrapped(&headline(report), "", "  ");
    for rung in &report.rungs {
        text.push('\n');
        text.push_str(&of_rung(rung));
    }
    let remedies = report.remedies();
    if !remedies.is_empty() {
        text.push('\n');
        text.push_str(&to_do(&remedies));
    }
    text
}

fn headline(report: &Report) -> String {
    let seen = report.rungs.iter().filter(|rung| rung.verdict == Verdict::Healthy);
    let words: Vec<&str> = seen.map(|rung| rung.rung.word()).collect();
    match report.limiting() {
        Some((rung, finding)) => format!("{}: {}", rung.word(), finding.says),
        None => match unmeasured(report) {
            Some(why) => {
                format!("{why}; no other limit found ({})", words.join(", "))
            }
            None => match report.note() {
                Some((rung, finding)) => format!("no fault found; {}: {}", rung.word(), finding.says),
                None => format!("healthy: nothing to do ({})", words.join(", ")),
            },
        },
    }
}

/// The rungs that could not be looked at, and why the first could not: the others mostly fell with it.
fn unmeasured(report: &Report) -> Option<String> {
    let unmeasured = || report.rungs.iter().filter(|rung| rung.verdict == Verdict::NotMeasured);
    let words: Vec<&str> = unmeasured().map(|rung| rung.rung.word()).collect();
    let why = unmeasured().next()?.could_not.join("; ");
    let words = match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => return None,
    };
    Some(format!("inconclusive: {words} not measured: {why}"))
}

fn of_rung(rung: &RungReport) -> String {
    let verdict = match rung.verdict {
        Verdict::Healthy => "ok",
        Verdict::Limits => "LIMITS",
        Verdict::Absent => "none",
        Verdict::NotMeasured => "not measured",
    };
    let mut text = format!("{}: {verdict}\n", rung.rung.word());
    rung.figures.iter().for_each(|figure| text.push_str(&of_figure(figure)));
    for finding in &rung.findings {
        text.push_str(&wrapped(&finding.says, mark(finding), "      "));
    }
    rung.could_not.iter().for_each(|why| text.push_str(&wrapped(why, "    ? ", "      ")));
    text
}

fn mark(finding: &Finding) -> &'static str {
    if finding.is_fault { "  >>> " } else { "    - " }
}

fn of_figure(figure: &Figure) -> String {
    let limit = figure.limit.as_ref().map_or(String::new(), |limit| format!(" ({limit})"));
    let line = format!("    {:<NAME$} {}{limit}", figure.name, figure.value);
    if line.chars().count() <= WIDTH {
        return format!("{line}\n");
    }
    let said = format!("{}{limit}", figure.value);
    format!("    {}\n{}", figure.name, wrapped(&said, "        ", "        "))
}

/// Each thing to do, why, and how to undo it.
fn to_do(all: &[&Remedy]) -> String {
    let mut text = String::new();
    let groups = [
        (true, "Changes on this host (howdah doctor --apply makes them after confirmation):"),
        (false, "Changes to make by hand:"),
    ];
    for (can, title) in groups {
        let mut group = all.iter().filter(|remedy| remedy.can_be_applied() == can).peekable();
        if group.peek().is_some() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{title}");
        }
        group.for_each(|remedy| text.push_str(&of_remedy(remedy)));
    }
    text
}

fn of_remedy(remedy: &Remedy) -> String {
    let command = remedy.command();
    // A command is to be copied whole.
    let mut text = match remedy.can_be_applied() {
        true => format!("    {command}\n"),
        false => wrapped(&command, "    ", "    "),
    };
    text.push_str(&wrapped(remedy.why(), "        why: ", "        "));
    if let Some(undo) = remedy.undo() {
        let _ = writeln!(text, "        undo: {undo}");
    }
    text
}

/// Lines of so many columns at most, where words allow.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(lines, "{line}");
            rest.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines + &line + "\n"
}

/// Verdicts, findings, remedies and facts: an object.
pub fn doctor_json(report: &Report, facts: &Facts) -> String {
    let limiting = report.limiting();
    let remedy = |remedy: &&Remedy| {
        json!({
            "command": remedy.command(),
            "why": remedy.why(),
            "undo": remedy.undo(),
            "can_be_applied": remedy.can_be_applied(),
        })
    };
    let whole: Value = json!({
        "limiting": limiting.map(|(rung, _)| rung),
        "says": limiting.map(|(_, finding)| &finding.says),
        "rungs": report.rungs,
        "remedies": report.remedies().iter().map(remedy).collect::<Vec<_>>(),
        "facts": facts,
    });
    format!("{whole:#}\n")
}

#[cfg(test)]
mod tests {
    use howdah_doctor::Rung;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn report() -> Report {
        let remedy = Remedy::Sysctl {
            name: "net.ipv4.tcp_wmem".to_owned(),
            now: "4096 16384 212992".to_owned(),
            wanted: "4096 16384 8388608".to_owned(),
            why: "room for what is on the way".to_owned(),
        };
        let advice =
            Remedy::Advice { what: "mount it again".to_owned(), why: "it is small".to_owned(), undo: None };
        let figures = vec![
            Figure::against("send buffer, at most", "213.0 kB", "at least 5.6 MB"),
            Figure::told(
                "congestion control",
                "bbr, of reno cubic bbr and many others that nobody ever uses",
            ),
        ];
        let says = "a connection of this host may send with 213.0 kB of buffer (net.ipv4.tcp_wmem), and the path needs 5.6 MB";
        let findings =
            vec![Finding::fault(says).mended_by(remedy), Finding::note("a note").mended_by(advice)];
        let host = RungReport::seen(Rung::Host, figures, findings);
        Report { rungs: vec![host, RungReport::not_measured(Rung::Path, "nobody answers echoes")] }
    }

    #[test]
    fn the_first_word_is_the_layer() {
        assert_data_eq!(
            doctor(&report()),
            str![[r#"
host: a connection of this host may send with 213.0 kB of buffer
  (net.ipv4.tcp_wmem), and the path needs 5.6 MB

host: LIMITS
    send buffer, at most             213.0 kB (at least 5.6 MB)
    congestion control
        bbr, of reno cubic bbr and many others that nobody ever uses
  >>> a connection of this host may send with 213.0 kB of buffer
      (net.ipv4.tcp_wmem), and the path needs 5.6 MB
    - a note

path: not measured
    ? nobody answers echoes

Changes on this host (howdah doctor --apply makes them after confirmation):
    sysctl -w net.ipv4.tcp_wmem='4096 16384 8388608'
        why: room for what is on the way
        undo: sysctl -w net.ipv4.tcp_wmem='4096 16384 212992'
Changes to make by hand:
    mount it again
        why: it is small

"#]]
        );
    }

    #[test]
    fn nothing_wrong_is_nothing_to_do() {
        let report = Report { rungs: vec![RungReport::seen(Rung::Host, Vec::new(), Vec::new())] };
        assert_eq!(doctor(&report), "healthy: nothing to do (host)\n\nhost: ok\n");
    }

    #[test]
    fn what_could_not_be_looked_at_comes_first() {
        let host = RungReport::seen(Rung::Host, Vec::new(), Vec::new());
        let refused = |rung| RungReport::not_measured(rung, "connecting: refused");
        let report = Report { rungs: vec![host, refused(Rung::Storage), refused(Rung::Nfs)] };
        assert_eq!(
            headline(&report),
            "inconclusive: storage and NFS not measured: connecting: refused; no other limit found (host)"
        );
    }

    #[test]
    fn machines_get_the_word_and_the_facts() {
        let text = doctor_json(&report(), &Facts::default());
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(
            (&value["limiting"], &value["rungs"][1]["verdict"]),
            (&json!("host"), &json!("not-measured"))
        );
        assert_eq!(value["remedies"][0]["undo"], json!("sysctl -w net.ipv4.tcp_wmem='4096 16384 212992'"));
        assert!(value["facts"]["host"].is_object());
    }
}
