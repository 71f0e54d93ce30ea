//! The document: its parts in the order in which a reader wants them.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::chart::STYLE;
use super::super::figures::Drawn;
use super::super::results::Results;
use super::{cells, claims, details, figure, header, repeat};

/// How it looks.
const LOOK: &str = include_str!("look.css");
/// What makes tables sortable; the page is complete without it.
const SORTING: &str = include_str!("sorting.js");
/// The browser must load nothing from elsewhere, whatever the page holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The whole page.
pub fn page(results: &Results, figures: &[Drawn]) -> String {
    let title = format!("{} – {}", results.plan.title, results.plan.name);
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("howdah ", env!("CARGO_PKG_VERSION")));
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(LOOK)) }
            }
            body {
                a.skip href="#answer" { "To the answer" }
                main { (parts(results, figures)) }
                script { (PreEscaped(SORTING)) }
            }
        }
    };
    document.into_string()
}

fn parts(results: &Results, figures: &[Drawn]) -> Markup {
    html! {
        (header::header(results))
        (claims::answer(results))
        (cells::failures(results))
        @if !figures.is_empty() {
            section #figures aria-labelledby="figures-title" {
                h2 #figures-title { "Figures" }
                @for (drawn, number) in figures.iter().zip(1..) { (figure::figure(drawn, number)) }
            }
        }
        (cells::cells(results))
        (repeat::repeat(results))
        (details::details(results))
        (repeat::machines(results))
    }
}
