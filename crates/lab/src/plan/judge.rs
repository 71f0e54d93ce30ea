//! Claims, judged by rows: held or not, with the figures.

use std::collections::BTreeMap;

use super::claim::PathFigure;
use super::{Claim, Of, Plan};
use crate::record::{CellMedians, Row, medians, shown};

/// What rows say of a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimJudgement {
    /// The conclusion, in the plan's words.
    pub says: String,
    /// Whether it held in every cell that it is about; none if no such cell was measured.
    pub held: Option<bool>,
    /// The figures of the cell that is closest to failing, or furthest beyond, as a sentence.
    pub figures: String,
}

/// Judges every claim of a plan.
pub fn judge(plan: &Plan, rows: &[Row]) -> Vec<ClaimJudgement> {
    let cells = medians(rows);
    plan.claims.iter().map(|claim| judged(claim, &cells)).collect()
}

/// A cell's figure beside its bound.
struct Tested {
    held: bool,
    /// How far it is from its bound, as a part of it: the least says the most.
    margin: f64,
    text: String,
}

fn judged(claim: &Claim, cells: &[CellMedians]) -> ClaimJudgement {
    let about = cells.iter().filter(|cell| is_of(cell, &claim.cells));
    let tested: Vec<Tested> = about.filter_map(|cell| tested(claim, cell, cells)).collect();
    let worst = tested.iter().min_by(|one, other| one.margin.total_cmp(&other.margin));
    let others = match tested.len() {
        0 | 1 => String::new(),
        more => format!(" (the closest of {more} cells)"),
    };
    ClaimJudgement {
        says: claim.says.clone(),
        held: worst.map(|_| tested.iter().all(|tested| tested.held)),
        figures: worst.map_or("no cell that it is about was measured".to_owned(), |worst| {
            format!("{}{others}", worst.text)
        }),
    }
}

fn tested(claim: &Claim, cell: &CellMedians, cells: &[CellMedians]) -> Option<Tested> {
    let (spread, unit) = cell.figures.get(&claim.figure)?;
    let value = spread.median;
    let (base, of) = match &claim.of {
        None => (1.0, String::new()),
        Some(of) => {
            let base = base(of, cell, cells)?;
            (base, format!(" = {:.3} of {}", value / base, base_text(of, base, unit)))
        }
    };
    let mut text = format!("{} {}{of}", claim.figure, shown(value, unit));
    let mut margin = f64::INFINITY;
    if let Some(most) = claim.at_most {
        margin = margin.min((most * base - value) / (most * base).abs().max(f64::MIN_POSITIVE));
        text.push_str(&format!(", at most {}", bound(claim, most, unit)));
    }
    if let Some(least) = claim.at_least {
        margin = margin.min((value - least * base) / (least * base).abs().max(f64::MIN_POSITIVE));
        text.push_str(&format!(", at least {}", bound(claim, least, unit)));
    }
    if let Some(load) = cell.disturbed {
        text.push_str(&format!(
            ", while other programs and kernel threads took {} of the CPUs",
            load.percent()
        ));
    }
    let where_ = levels(&cell.factors);
    Some(Tested { held: margin >= 0.0, margin, text: format!("{text}{where_}") })
}

fn bound(claim: &Claim, bound: f64, unit: &str) -> String {
    if claim.of.is_some() { format!("{bound}") } else { shown(bound, unit) }
}

fn base(of: &Of, cell: &CellMedians, cells: &[CellMedians]) -> Option<f64> {
    match of {
        Of::Path(PathFigure::LineRate) => cell.line_rate_bytes_per_second,
        Of::Path(PathFigure::RoundTrip) => Some(cell.round_trip_seconds),
        Of::Figure { figure, cells: other } => {
            let mut levels = cell.factors.clone();
            levels.extend(other.clone());
            let beside = cells.iter().find(|cell| cell.factors == levels)?;
            Some(beside.figures.get(figure)?.0.median)
        }
    }
}

fn base_text(of: &Of, base: f64, unit: &str) -> String {
    match of {
        Of::Path(PathFigure::LineRate) => format!("the line rate, {}", shown(base, unit)),
        Of::Path(PathFigure::RoundTrip) => format!("the round trip, {}", shown(base, unit)),
        Of::Figure { figure, cells } => format!("{figure} {}{}", shown(base, unit), levels(cells)),
    }
}

fn levels(levels: &BTreeMap<String, String>) -> String {
    if levels.is_empty() {
        return String::new();
    }
    let pairs: Vec<String> = levels.iter().map(|(factor, level)| format!("{factor} {level}")).collect();
    format!(" [{}]", pairs.join("; "))
}

fn is_of(cell: &CellMedians, levels: &BTreeMap<String, String>) -> bool {
    levels.iter().all(|(factor, level)| cell.factors.get(factor) == Some(level))
}

#[cfg(test)]
mod tests {
    use super::super::testing::plan;
    use super::*;
    use crate::record::{RowFigure, testing::row, unit};
    use howdah_workload::measure::OtherLoad;

    fn measured(cell: u32, rtt: &str, buffer: &str, throughput: f64) -> Row {
        let figure = RowFigure::new(throughput, unit::BYTES_PER_SECOND);
        let factors =
            [("rtt", rtt), ("buffer", buffer)].map(|(name, level)| (name.to_owned(), level.to_owned()));
        Row {
            factors: factors.into(),
            figures: [("throughput".to_owned(), figure)].into(),
            line_rate_bytes_per_second: Some(117e6),
            ..row(cell, 1)
        }
    }

    #[test]
    fn bounds_are_multiples_of_the_line_rate_or_of_another_cell() {
        for (fixed, kernels, held) in [
            (43e6, Some(90e6), [Some(true), Some(true)]),
            (58.5e6, Some(87.75e6), [Some(true), Some(true)]),
            (60e6, Some(80e6), [Some(false), Some(false)]),
            (43e6, None, [Some(true), None]),
        ] {
            let mut rows = vec![measured(3, "30ms", "fixed", fixed)];
            rows.extend(kernels.map(|kernels| measured(4, "30ms", "the kernel's", kernels)));
            let judged = judge(&plan(), &rows);
            let found: Vec<Option<bool>> = judged.iter().map(|judgement| judgement.held).collect();
            assert_eq!(found, held, "{fixed} {kernels:?}: {judged:?}");
        }
    }

    #[test]
    fn a_judgement_by_a_disturbed_cell_says_so() {
        let load = |share| Some(OtherLoad { seconds: 1.0, share });
        let row = Row { other_load: load(0.34), ..measured(3, "30ms", "fixed", 70e6) };
        let figures = &judge(&plan(), std::slice::from_ref(&row))[0].figures;
        assert!(
            figures.contains("at most 0.5, while other programs and kernel threads took 34 % of the CPUs ["),
            "{figures}"
        );
        let figures = &judge(&plan(), &[Row { other_load: load(0.04), ..row }])[0].figures;
        assert!(!figures.contains("other programs"), "{figures}");
    }

    #[test]
    fn a_claim_holds_in_every_cell_and_shows_the_closest() {
        let mut plan = plan();
        plan.claims.truncate(1);
        plan.claims[0].cells.remove("rtt");
        let rows = [measured(3, "30ms", "fixed", 70e6), measured(5, "100ms", "fixed", 10e6)];
        let judged = judge(&plan, &rows);
        assert_eq!(judged[0].held, Some(false));
        assert!(judged[0].figures.contains("70.0 MB/s = 0.598 of the line rate, 117 MB/s"), "{judged:?}");
        assert!(judged[0].figures.ends_with("(the closest of 2 cells)"), "{judged:?}");
        assert_eq!(judge(&plan, &[])[0].held, None);
    }
}
