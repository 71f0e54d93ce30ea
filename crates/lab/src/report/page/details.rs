//! Everything about each cell: its figures, its commands, what the wire did. Closed until somebody asks.

use howdah_link::{Counters, Tally};
use maud::{Markup, html};

use super::super::results::Results;
use super::super::units::{Scale, text};
use super::table::plain;
use crate::record::{CellMedians, CommandRecord, Late, LinkCount, Outcome, Row, unit};
use howdah_workload::measure::Spread;

/// One closed part for each cell.
pub fn details(results: &Results) -> Markup {
    html! {
        @if !results.cells.is_empty() {
            section #details aria-labelledby="details-title" {
                h2 #details-title { "Each cell" }
                @for cell in &results.cells { (one(results, cell)) }
            }
        }
    }
}

fn one(results: &Results, cell: &CellMedians) -> Markup {
    let rows: Vec<&Row> = results.rows_of(cell.cell).collect();
    let levels = results.levels_of(&cell.factors);
    html! {
        details.cell id=(format!("cell-{}", cell.cell)) {
            summary {
                "Cell " (cell.cell) @if !levels.is_empty() { ": " (levels.join(", ")) }
                @if cell.ok == 0 { " – failed" }
            }
            (figures(cell))
            @for row in &rows { (repetition(row)) }
        }
    }
}

/// All figures; of a single client those that also have a plain name are shown once.
fn figures(cell: &CellMedians) -> Markup {
    let again = |name: &str| cell.figures.keys().any(|other| other.ends_with(&format!(".{name}")));
    let listed = cell.figures.iter().filter(|(name, _)| name.contains('.') || !again(name));
    let several = cell.ok > 1;
    let row = |(name, (spread, recorded)): (&String, &(Spread, String))| {
        let scale = Scale::of(recorded, spread.max);
        let values = [spread.median, spread.min, spread.max].map(|value| scale.number(value));
        std::iter::once(scale.named(name))
            .chain(values.into_iter().take(if several { 3 } else { 1 }))
            .collect()
    };
    let rows: Vec<Vec<String>> = listed.map(row).collect();
    let head: &[&str] = if several { &["figure", "median", "least", "most"] } else { &["figure", "value"] };
    let head: Vec<String> = head.iter().map(|name| (*name).to_owned()).collect();
    html! { @if !rows.is_empty() { (plain(&format!("All figures of cell {}", cell.cell), &head, &rows)) } }
}

fn repetition(row: &Row) -> Markup {
    html! {
        h3 { "Repetition " (row.repetition) }
        p {
            "Begun " (row.started) ", took " (text(row.seconds, unit::SECONDS)) "; seed " code { (row.seed) }
            "; logs in " code { (format!("logs/{:03}-{}", row.cell, row.repetition)) }
            @if let Some(series) = &row.series { ", time series in " code { (series) } }
            "."
            @if let Some(load) = &row.other_load {
                " Other programs and kernel threads took " (text(load.seconds, unit::SECONDS)) " of CPU time, " (load.percent())
                " of all CPUs."
            }
        }
        @if let Outcome::Failed(why) = &row.outcome { pre.why { (why) } }
        @if !row.commands.is_empty() { pre { code { (commands(&row.commands)) } } }
        (link(row))
    }
}

/// One line for each, as they can be typed on their host.
fn commands(commands: &[CommandRecord]) -> String {
    let line = |command: &CommandRecord| {
        let words: Vec<String> = command.command.iter().map(|word| shell(word)).collect();
        format!("# {} on {}\n{}", command.name, command.host, words.join(" "))
    };
    commands.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A word as a shell reads it back.
pub fn shell(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// What each element of each wire did, without what it did not do.
fn link(row: &Row) -> Markup {
    let head = ["wire", "direction", "element", "counters"].map(str::to_owned);
    let rows: Vec<Vec<String>> = row
        .link
        .iter()
        .map(|count| {
            vec![count.wire.clone(), count.direction.clone(), count.element.clone(), counters(count)]
        })
        .collect();
    html! { @if !rows.is_empty() { (plain(&format!("The link, cell {} repetition {}", row.cell, row.repetition), &head, &rows)) } }
}

/// Packets and their bytes, by what became of them.
fn counters(count: &LinkCount) -> String {
    let Counters { arrived, left, dropped, copied, corrupted, held_back } = count.counters;
    let named = [
        ("arrived", arrived),
        ("left", left),
        ("dropped", dropped),
        ("copied", copied),
        ("corrupted", corrupted),
        ("held back", held_back),
    ];
    let did = named.into_iter().filter(|(_, tally)| *tally != Tally::default());
    let shown = did.map(|(name, tally)| {
        let packets = text(tally.packets as f64, unit::COUNT);
        format!("{name} {packets} ({})", text(tally.bytes as f64, unit::BYTES))
    });
    shown.chain(count.late.as_ref().map(late)).collect::<Vec<_>>().join(", ")
}

fn late(late: &Late) -> String {
    let time = |seconds: f64| text(seconds, unit::SECONDS);
    let exact = |part| format!("; {:.2} % on time to 0.2 ms", part * 100.0);
    format!(
        "late by at most {} (p50), {} (p99), {} (max){}",
        time(late.half_seconds),
        time(late.nearly_all_seconds),
        time(late.most_seconds),
        late.exact_part.map(exact).unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_late_a_wire_was_is_told() {
        let page = link(&crate::record::testing::row(1, 1)).into_string();
        assert!(
            page.contains(
                "late by at most 16.0 µs (p50), 64.0 µs (p99), 1.00 ms (max); 99.87 % on time to 0.2 ms"
            ),
            "{page}"
        );
    }

    #[test]
    fn an_element_tells_what_it_did_and_nothing_else() {
        let mut row = crate::record::testing::row(1, 1);
        let came = Tally { packets: 12_345, bytes: 18_000_000 };
        row.link[0].counters =
            Counters { arrived: came, dropped: Tally { packets: 2, bytes: 3028 }, ..Counters::default() };
        row.link[0].late = None;
        assert_eq!(counters(&row.link[0]), "arrived 12,345 (18.0 MB), dropped 2 (3.03 kB)");
    }

    #[test]
    fn commands_can_be_typed_again() {
        let command = |words: &[&str]| CommandRecord {
            host: "client".to_owned(),
            name: "main".to_owned(),
            command: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        let text = commands(&[command(&[
            "howdah",
            "bench",
            "nfs://10.77.0.1/?rsize=1048576",
            "--size",
            "500M",
            "it's",
            "",
            "a#b",
        ])]);
        assert_eq!(
            text,
            "# main on client\nhowdah bench 'nfs://10.77.0.1/?rsize=1048576' --size 500M 'it'\\''s' '' 'a#b'"
        );
    }
}
