//! What the server said limits its clients, beside what the plan knows to limit them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use howdah_tune::{Recorded, Verdict};

use crate::plan::VerdictSpec;
use crate::record::{RowFigure, SeriesLine, VerdictSample, unit};

/// A look counts if the connection moved at least this part of what it moves in the middle of all looks: what follows the
/// work (names removed, attributes asked for) is something else.
const STILL_WORKS: f64 = 0.1;

/// Reads what `howdah serve --samples` wrote.
pub fn looks(path: &Path) -> Result<Vec<Recorded>> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let line = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))
    };
    text.lines().enumerate().map(line).collect()
}

/// The looks as lines of a series that began then (Unix clock).
pub fn series(looks: &[Recorded], began: f64) -> impl Iterator<Item = SeriesLine> {
    looks.iter().filter_map(move |look| {
        let judgement = look.judgement.as_ref()?;
        Some(SeriesLine::Verdict(VerdictSample {
            at: look.time - began,
            client: look.client.clone(),
            verdict: judgement.verdict(),
            sent_per_second: judgement.sent_per_second,
            received_per_second: judgement.received_per_second,
            rtt: look.sample.path.rtt.as_secs_f64(),
        }))
    })
}

/// `verdict.right`, how many looks that is of, and the part of each word that was said.
pub fn figures(looks: &[Recorded], spec: &VerdictSpec) -> Result<BTreeMap<String, RowFigure>> {
    let counted = counted(looks, spec);
    ensure!(!counted.is_empty(), "no sample of a connection counts: none carried data for this long");
    let part = |count: usize| RowFigure::new(count as f64 / counted.len() as f64, unit::PART);
    let right = counted.iter().filter(|said| spec.right.contains(said)).count();
    let mut figures = BTreeMap::from([
        ("verdict.right".to_owned(), part(right)),
        ("verdict.looks".to_owned(), RowFigure::new(counted.len() as f64, unit::COUNT)),
    ]);
    for word in &counted {
        let said = counted.iter().filter(|said| *said == word).count();
        figures.insert(format!("verdict.{word}"), part(said));
    }
    Ok(figures)
}

/// The words of those looks at which a connection moved what the plan is about, after its ramp.
fn counted(looks: &[Recorded], spec: &VerdictSpec) -> Vec<Verdict> {
    let mut connections: BTreeMap<&str, Vec<(f64, f64, Verdict)>> = BTreeMap::new();
    for look in looks {
        if let Some(judgement) = &look.judgement
            && let Some(rate) = judgement.rate(spec.of)
        {
            connections.entry(&look.client).or_default().push((look.time, rate, judgement.verdict()));
        }
    }
    let mut counted = Vec::new();
    for mut looks in connections.into_values() {
        // Calls that mount, and make what is read later, are not the work.
        let Some(began) = works(&looks).next().map(|(time, ..)| *time) else { continue };
        looks.retain(|(time, ..)| *time >= began + spec.after.0.as_secs_f64());
        let mut words: Vec<Verdict> = works(&looks).map(|(.., verdict)| *verdict).collect();
        // In the last one the work ended.
        words.pop();
        counted.extend(words);
    }
    counted
}

/// Those that moved as much as work does.
fn works(looks: &[(f64, f64, Verdict)]) -> impl Iterator<Item = &(f64, f64, Verdict)> {
    let mut rates: Vec<f64> = looks.iter().map(|(_, rate, _)| *rate).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2).copied().unwrap_or(0.0);
    looks.iter().filter(move |(_, rate, _)| *rate >= STILL_WORKS * median)
}

#[cfg(test)]
mod tests {
    use howdah_tune::{Direction, Judgement, Sample};

    use super::*;
    use crate::plan::Time;

    fn look(time: f64, sent: f64, received: f64, verdict: Verdict) -> Recorded {
        let judgement = Judgement {
            sending: verdict,
            receiving: verdict,
            sent_per_second: sent,
            received_per_second: received,
        };
        Recorded {
            time,
            client: "10.77.0.2:801".to_owned(),
            unsent_mark: 0,
            sample: Sample::default(),
            judgement: Some(judgement),
        }
    }

    #[test]
    fn what_counts_is_work_in_the_plan_s_direction_after_the_ramp() {
        let mut looks = vec![
            look(98.0, 2e3, 1e3, Verdict::ClientSlots),
            look(100.0, 0.0, 100e6, Verdict::PathFull),
            look(101.0, 50e6, 1e6, Verdict::Ramping),
            look(103.9, 110e6, 1e6, Verdict::Ramping),
        ];
        looks.extend((0..9).map(|second| look(104.0 + f64::from(second), 110e6, 1e6, Verdict::PathFull)));
        looks.push(look(113.0, 100e6, 1e6, Verdict::Loss));
        looks.push(look(113.5, 50e6, 1e6, Verdict::ClientSlots));
        looks.push(look(114.0, 2e3, 1e3, Verdict::Idle));
        let spec =
            VerdictSpec { right: vec![Verdict::PathFull], of: Direction::Reads, after: Time::seconds(3) };
        let figures = super::figures(&looks, &spec).expect("some count");
        let value = |name: &str| figures[name].value;
        assert_eq!((value("verdict.looks"), value("verdict.right")), (10.0, 0.9));
        assert_eq!((value("verdict.path-full"), value("verdict.loss")), (0.9, 0.1));
        assert!(super::figures(&looks, &VerdictSpec { of: Direction::Writes, ..spec }).is_err());
        let line = series(&looks, 100.0).nth(2).expect("a line");
        assert!(matches!(line, SeriesLine::Verdict(said) if said.at == 1.0), "{looks:?}");
    }
}
