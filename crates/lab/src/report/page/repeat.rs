//! How to repeat it, and on what it was measured.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::super::results::Results;
use super::super::units::text;
use super::details::shell;
use crate::record::{Row, unit};

/// The commands that measure all of it, or one cell, again.
pub fn repeat(results: &Results) -> Markup {
    let quick = if results.quick() { " --quick" } else { "" };
    // Who comes here because of a failure wants that cell.
    let cell = results.rows.iter().find(|row| !row.is_ok()).or(results.rows.first());
    let plan = "plan.toml";
    html! {
        section #repeat aria-labelledby="repeat-title" {
            h2 #repeat-title { "How to repeat it" }
            p {
                "The plan is in the directory of this page: " code { (plan) } ". Everything random follows from its seed, "
                code { (results.plan.seed) } "."
                @if !results.has_the_plans_seeds() {
                    " This run was given another one (--seed); the seed of each measurement is at its cell below."
                }
            }
            pre { code { (format!("howdah lab run {plan}{quick}")) } }
            @if let Some(row) = cell {
                p { "One cell alone, here number " (row.cell) ":" }
                pre { code { (format!("howdah lab run {plan}{quick} --cell {}", row.cell)) } }
            }
            p { "This page again, from the rows:" }
            pre { code { "howdah lab report " (shell(&results.directory.path().file_name().map_or(".".into(), |name| name.to_string_lossy()))) } }
        }
    }
}

/// Machines, versions, commits: one line each if it was but one.
pub fn machines(results: &Results) -> Markup {
    if results.rows.is_empty() {
        return html! {};
    }
    html! {
        section #machine aria-labelledby="machine-title" {
            h2 #machine-title { "Measured on" }
            dl {
                (entry("Machine", results, |row| row.machine.host.clone()))
                (entry("Processor", results, |row| format!("{} × {} ({})", row.machine.processors, row.machine.processor, row.machine.architecture)))
                (entry("Memory", results, |row| text(row.machine.memory_bytes as f64, unit::BYTES)))
                (entry("Kernel", results, |row| row.machine.kernel.clone()))
                (entry("howdah", results, |row| row.howdah.clone()))
                (entry("Commit", results, |row| row.commit.clone().unwrap_or_else(|| "unknown".to_owned())))
            }
        }
    }
}

fn entry(name: &str, results: &Results, of: impl Fn(&Row) -> String) -> Markup {
    let values: BTreeSet<String> = results.rows.iter().map(of).collect();
    html! { dt { (name) } @for value in &values { dd { (value) } } }
}
