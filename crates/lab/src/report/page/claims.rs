//! The answer: each conclusion of the plan, in its words, and whether these rows bear it out.

use maud::{Markup, html};

use super::super::results::Results;
use crate::plan::ClaimJudgement;

/// The list of claims.
pub fn answer(results: &Results) -> Markup {
    let held = results.judgements.iter().filter(|judgement| judgement.held == Some(true)).count();
    let all = results.judgements.len();
    html! {
        section #answer aria-labelledby="answer-title" {
            h2 #answer-title { "The answer" }
            @if all == 0 {
                p { "The plan concludes nothing by itself; the figures are below." }
            } @else {
                p { (held) " of " (all) " conclusions held." }
                ul.claims { @for judgement in &results.judgements { (claim(judgement)) } }
            }
        }
    }
}

fn claim(judgement: &ClaimJudgement) -> Markup {
    let (class, sign, verdict) = match judgement.held {
        Some(true) => ("held", "✓", "Held"),
        Some(false) => ("broken", "✗", "Did not hold"),
        None => ("open", "?", "Not measured"),
    };
    html! {
        li class=(class) {
            span.verdict { span aria-hidden="true" { (sign) " " } (verdict) }
            div { p.says { (judgement.says) } p.figures { (judgement.figures) } }
        }
    }
}
