//! The top of the page: what was asked, and how far the run came.

use maud::{Markup, html};

use super::super::results::Results;
use super::super::units::text;
use crate::plan::LeftOut;
use crate::record::unit;

/// Title, question, state.
pub fn header(results: &Results) -> Markup {
    let plan = &results.plan;
    html! {
        header {
            p.kicker {
                "Experiment " code { (plan.name) }
                @if let Some(origin) = &plan.origin { ", after origin " (origin) }
            }
            h1 { (plan.title) }
            section aria-label="Question" {
                @for paragraph in plan.asks.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
                    p.asks { (with_code(paragraph.trim())) }
                }
            }
            p.state { (state(results)) }
            @for left_out in &plan.left_out { p.state { (sentence(left_out)) } }
        }
        @for warning in warnings(results) { p.warning role="note" { (warning) } }
    }
}

/// A text in which what stands between backquotes is code.
fn with_code(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// "Left out: client Linux kernel, server Linux kernel. Why."
fn sentence(left_out: &LeftOut) -> String {
    let levels: Vec<String> =
        left_out.cells.iter().map(|(factor, level)| format!("{factor} {level}")).collect();
    format!("Left out: {}. {}", levels.join(", "), left_out.why)
}

/// "12 cells, 3 repetitions each; 147 s of measuring; begun 2026-11-22 04:00:00 UTC."
fn state(results: &Results) -> String {
    let cells = match results.cells.len() {
        1 => "1 cell".to_owned(),
        more => format!("{more} cells"),
    };
    let seconds: f64 = results.rows.iter().map(|row| row.seconds).filter(|seconds| seconds.is_finite()).sum();
    let first = results.rows.iter().map(|row| row.started.as_str()).min();
    let begun = first
        .map_or(String::new(), |first| format!("; begun {}", first.replace('T', " ").replace('Z', " UTC")));
    format!("{cells}{}; {} of measuring{begun}.", repetitions(results), text(seconds, unit::SECONDS))
}

/// How often each cell was measured.
fn repetitions(results: &Results) -> String {
    let counts = || results.cells.iter().map(|cell| results.rows_of(cell.cell).count());
    match (counts().min(), counts().max()) {
        (None, _) | (_, None) => String::new(),
        (Some(1), Some(1)) => ", measured once".to_owned(),
        (Some(least), Some(most)) if least == most => format!(", {most} repetitions each"),
        (Some(least), Some(most)) => format!(", {least} to {most} repetitions each"),
    }
}

/// What a reader must know before believing anything.
fn warnings(results: &Results) -> Vec<String> {
    let mut warnings = Vec::new();
    let (there, wanted) = (results.rows.len(), results.rows_wanted());
    if there == 0 {
        warnings.push("Nothing has been measured yet.".to_owned());
    } else if there < wanted {
        warnings.push(format!(
            "The run is not complete: {there} of {wanted} measurements are there. It was interrupted, is still running, or ran only some of the cells."
        ));
    }
    if results.quick() {
        warnings.push("This is the short form of the plan (--quick): fewer levels, repetitions or bytes than the whole one.".to_owned());
    }
    warnings.extend(disturbed(results));
    let failed = results.rows.iter().filter(|row| !row.is_ok()).count();
    if failed > 0 {
        let listed =
            if failed == 1 { "it is listed below and counts" } else { "they are listed below and count" };
        warnings.push(format!("{failed} of {there} measurements failed; {listed} nowhere."));
    }
    warnings
}

/// Which measurements are in doubt because the machine had other things to do.
fn disturbed(results: &Results) -> Option<String> {
    let rows: Vec<String> = results
        .rows
        .iter()
        .filter_map(|row| {
            let percent = row.disturbed()?.percent();
            Some(format!("cell {} repetition {} ({percent})", row.cell, row.repetition))
        })
        .collect();
    let (count, all) = (rows.len(), results.rows.len());
    (count > 0).then(|| {
        format!(
            "Other programs and kernel threads took more than 10 % of the CPUs during {count} of {all} measurements, also when these were \
             repeated. Their figures, and claims about them, may be wrong: {}.",
            rows.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backquotes_is_code() {
        assert_eq!(with_code("as `a < b` says").into_string(), "as <code>a &lt; b</code> says");
    }
}
