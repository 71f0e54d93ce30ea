//! What connections of the plan `verdicts` looked like, each with one cause made on purpose, judged again: the word must be right
//! at 95 of 100 looks. How the files are made is in `docs/lab/verdicts.md`.

use howdah_tune::{Direction, Judge, Recorded, Verdict};
use serde::Deserialize;

/// The part of the looks at which the word must be right.
const RIGHT: f64 = 0.95;
/// So long after a connection began to move, looks are not counted, in seconds: as in the plan.
const RAMP: f64 = 3.0;
/// A look counts if the connection moved at least this part of what it moves in the middle of all looks: as in the plan.
const STILL_WORKS: f64 = 0.1;

/// The first line of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    right: Vec<Verdict>,
    of: Direction,
}

macro_rules! recorded {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("recorded/", $name, ".jsonl")))),*]
    };
}

/// A connection for each cause: what is right, and then its looks.
const RECORDED: [(&str, &str); 30] = recorded!(
    "client-send-buffer-write",
    "client-send-buffer-write-again",
    "client-window-read",
    "client-window-read-100ms",
    "line-read",
    "line-write",
    "line-write-100ms",
    "line-write-again",
    "losses-read",
    "losses-read-100ms",
    "nothing-read",
    "nothing-read-100ms",
    "nothing-write",
    "nothing-write-100ms",
    "one-call-in-flight-read",
    "one-call-in-flight-read-100ms",
    "one-call-in-flight-write",
    "one-call-in-flight-write-100ms",
    "processors-read",
    "processors-read-again",
    "processors-write",
    "processors-write-again",
    "processors-write-at-once",
    "server-send-buffer-read",
    "server-window-write",
    "server-window-write-100ms",
    "slow-disk-read",
    "slow-disk-read-again",
    "slow-disk-write",
    "slow-disk-write-again",
);

/// The words for one connection, over again, at the looks that count.
fn words(looks: &[Recorded], of: Direction) -> Vec<Verdict> {
    let mut judge = Judge::default();
    let judged: Vec<(f64, f64, Verdict)> = looks
        .iter()
        .filter_map(|look| {
            let judgement = judge.on_sample(look.sample.clone(), look.unsent_mark)?;
            Some((look.time, judgement.rate(of)?, judgement.verdict()))
        })
        .collect();
    let Some(began) = works(&judged).next().map(|(time, ..)| *time) else { return Vec::new() };
    let after: Vec<_> = judged.into_iter().filter(|(time, ..)| *time >= began + RAMP).collect();
    let mut words: Vec<Verdict> = works(&after).map(|(.., word)| *word).collect();
    // In the last one the work ended.
    words.pop();
    words
}

/// Looks at which it moved as much as work does.
fn works(looks: &[(f64, f64, Verdict)]) -> impl Iterator<Item = &(f64, f64, Verdict)> {
    let mut rates: Vec<f64> = looks.iter().map(|(_, rate, _)| *rate).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2).copied().unwrap_or(0.0);
    looks.iter().filter(move |(_, rate, _)| *rate >= STILL_WORKS * median)
}

#[test]
fn the_word_is_right_at_95_of_100_looks() {
    let mut wrong = Vec::new();
    for (name, text) in RECORDED {
        let (label, lines) = text.split_once('\n').expect("a label and looks");
        let label: Label = serde_json::from_str(label).expect("a label");
        let looks: Vec<Recorded> =
            lines.lines().map(|line| serde_json::from_str(line).expect("a look")).collect();
        let words = words(&looks, label.of);
        assert!(words.len() >= 10, "{name}: {} looks count", words.len());
        let right = words.iter().filter(|word| label.right.contains(word)).count();
        if (right as f64) < RIGHT * words.len() as f64 {
            wrong.push(format!("{name}: {:?} at {right} of {}: {words:?}", label.right, words.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
