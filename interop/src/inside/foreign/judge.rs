//! The conformance suite on an export of a server of other people, and its verdict against what is known to differ.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use howdah_vfs::FileSystem;
use howdah_vfs::conformance::{Abilities, Outcome, Subject, cases};

use crate::scenario::Difference;

/// Runs the suite, and writes down how each case ended. An error unless exactly what is known to differ fails; else a
/// line that counts.
pub fn judge(
    log: &mut impl Write,
    fs: &Arc<dyn FileSystem>,
    abilities: Abilities,
    differences: &[Difference],
) -> Result<String> {
    let mut tally = Tally::default();
    for case in cases() {
        let name = case.to_string();
        // It is named before it runs: the last one is what a run that hangs was doing.
        write!(log, "{name}: ").context("writing a log")?;
        let outcome = case.run(&Subject::new(Arc::clone(fs), abilities.clone()));
        writeln!(log, "{outcome:?}").context("writing a log")?;
        tally.count(name, outcome, differences);
    }
    tally.verdict(differences)
}

/// How the cases ended.
#[derive(Default)]
struct Tally {
    passed: usize,
    skipped: usize,
    /// Failed as they must.
    differ: usize,
    /// What is wrong.
    wrong: Vec<String>,
    /// All that ran.
    names: BTreeSet<String>,
}

impl Tally {
    fn count(&mut self, name: String, outcome: Outcome, differences: &[Difference]) {
        self.names.insert(name.clone());
        let known = differences.iter().find(|difference| difference.case == name);
        match (outcome, known) {
            (Outcome::Passed, None | Some(Difference { always: false, .. })) => self.passed += 1,
            (Outcome::Skipped(_), _) => self.skipped += 1,
            (Outcome::Failed(_), Some(_)) => self.differ += 1,
            (Outcome::Failed(what), None) => self.wrong.push(format!("{name}: {what}")),
            (Outcome::Passed, Some(Difference { why, always: true, .. })) => {
                self.wrong.push(format!("{name}: passed, but should fail ({why}): take that out"));
            }
        }
    }

    fn words(&self) -> String {
        let (passed, differ, skipped) = (self.passed, self.differ, self.skipped);
        format!("{passed} cases passed, {differ} differ as they are known to, {skipped} skipped")
    }

    fn verdict(mut self, differences: &[Difference]) -> Result<String> {
        let unheard: Vec<_> =
            differences.iter().map(|known| known.case).filter(|case| !self.names.contains(*case)).collect();
        if !unheard.is_empty() {
            self.wrong.push(format!("known to differ, but no case of the suite: {}", unheard.join(", ")));
        }
        ensure!(self.wrong.is_empty(), "{}; {}", self.words(), self.wrong.join("; "));
        Ok(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Difference] = &[
        Difference { case: "data: holes", why: "it has none", always: true },
        Difference { case: "data: races", why: "it may lose", always: false },
    ];

    fn verdict(outcomes: &[(&str, &Outcome)]) -> Result<(), String> {
        let mut tally = Tally::default();
        outcomes.iter().for_each(|(name, outcome)| tally.count(name.to_string(), (*outcome).clone(), KNOWN));
        tally.verdict(KNOWN).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn exactly_what_is_known_to_differ_must_fail() {
        let (passed, failed) = (Outcome::Passed, Outcome::Failed("refused".into()));
        let cases =
            |holes, races, reads| [("data: holes", holes), ("data: races", races), ("data: reads", reads)];
        for races in [&passed, &failed] {
            assert_eq!(verdict(&cases(&failed, races, &passed)), Ok(()));
            let said = verdict(&cases(&failed, races, &failed)).expect_err("a refusal");
            assert!(said.contains("data: reads: refused"), "{said}");
            let said = verdict(&cases(&passed, races, &passed)).expect_err("a refusal");
            assert!(said.contains("take that out"), "{said}");
        }
        let said = verdict(&[("data: holes", &failed)]).expect_err("a refusal");
        assert!(said.contains("no case of the suite: data: races"), "{said}");
    }
}
