//! What test programs print (libtest's words, with `--show-output`), read line by line.

use super::processes::Show;
use super::step::Report;

/// Lines of one failing test that are printed again at the end: a message and the beginning of a comparison.
const CAUSE_LINES: usize = 40;

/// Counts what test programs say, one program after the other.
#[derive(Debug, Default)]
pub struct TestOutput {
    /// What was read so far.
    pub report: Report,
    section: Section,
    /// How many more lines of the test whose output this is are printed again.
    cause_lines_left: usize,
}

/// Where in a program's output we are.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Section {
    #[default]
    Tests,
    Successes,
    Failures,
}

impl TestOutput {
    /// Counts a line, `test result: ok. 3 passed; 0 failed; 1 ignored; …`, and remembers the names of those that failed and what
    /// they said. A test that says `skipped: …` is counted as that; its program counts it among those that passed, too.
    pub fn read(&mut self, line: &str) -> Show {
        match line {
            "successes:" => self.section = Section::Successes,
            "failures:" => self.section = Section::Failures,
            _ => {}
        }
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.report.remarks.push(format!("FAILED {name}"));
            return Show::Always;
        }
        if let Some(counts) = line.strip_prefix("test result: ") {
            self.section = Section::Tests;
            self.count(counts);
            return Show::Always;
        }
        if let Some(why) = line.strip_prefix("skipped: ") {
            self.report.skipped += 1;
            *self.report.reasons.entry(why.to_owned()).or_default() += 1;
            return Show::Always;
        }
        match self.section {
            Section::Failures => {
                self.remember(line);
                Show::Always
            }
            Section::Successes => Show::ToAPerson,
            Section::Tests
                if line.is_empty() || line.starts_with("running ") || line.ends_with(" ... ok") =>
            {
                Show::ToAPerson
            }
            Section::Tests => Show::Always,
        }
    }

    fn count(&mut self, counts: &str) {
        let Some((_, counts)) = counts.split_once(". ") else { return };
        for part in counts.split("; ") {
            match part.split_once(' ').map(|(number, word)| (number.parse::<usize>(), word)) {
                Some((Ok(number), "passed")) => self.report.passed += number,
                Some((Ok(number), "failed")) => self.report.failed += number,
                Some((Ok(number), "ignored")) => self.report.skipped += number,
                _ => {}
            }
        }
    }

    /// Of a line about failures: `---- NAME stdout ----` and what follows it, but not the list of names at the end.
    fn remember(&mut self, line: &str) {
        if line.starts_with("---- ") {
            self.cause_lines_left = CAUSE_LINES;
        } else if line == "failures:" {
            self.cause_lines_left = 0;
        }
        if self.cause_lines_left > 0 && !line.is_empty() {
            self.cause_lines_left -= 1;
            self.report.causes.push(line.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::processes::Show;
    use super::TestOutput;

    const OUTPUT: &str = "
running 3 tests
test a::b ... FAILED
test a::c ... ok
test a::d ... ok

successes:

---- a::c stdout ----
skipped: not installed: linux.uml

---- a::d stdout ----
seed 7


successes:
    a::c
    a::d

failures:

---- a::b stdout ----
thread 'a::b' panicked at a.rs:1:2:
seen 1


failures:
    a::b

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s";

    #[test]
    fn tests_are_counted_and_those_that_failed_or_were_skipped_are_remembered() {
        let mut output = TestOutput::default();
        for line in OUTPUT.lines().chain(OUTPUT.lines()) {
            output.read(line);
        }
        let report = output.report;
        assert_eq!((report.passed, report.failed, report.skipped), (4, 2, 4));
        assert_eq!(report.remarks, ["FAILED a::b", "FAILED a::b"]);
        assert_eq!(report.reasons, [("not installed: linux.uml".to_owned(), 2)].into());
        let cause = ["---- a::b stdout ----", "thread 'a::b' panicked at a.rs:1:2:", "seen 1"];
        assert_eq!(report.causes, [cause, cause].concat());
    }

    #[test]
    fn who_reads_it_later_is_not_told_of_every_test_that_passed() {
        let mut output = TestOutput::default();
        let shown = OUTPUT.lines().filter(|line| output.read(line) == Show::Always);
        let shown: Vec<_> = shown.filter(|line| !line.is_empty()).collect();
        let kept = ["test a::b ... FAILED", "skipped: not installed: linux.uml", "failures:"];
        assert_eq!(shown[..3], kept);
        assert!(!shown.iter().any(|line| line.contains("a::d") || line.contains("seed 7")), "{shown:?}");
        assert!(shown.contains(&"seen 1"));
    }

    #[test]
    fn a_test_that_says_much_is_cut_in_what_is_told_again() {
        let mut output = TestOutput::default();
        for line in ["failures:", "", "---- a::b stdout ----"].into_iter().chain(["much"; 1000]) {
            output.read(line);
        }
        assert_eq!(output.report.causes.len(), super::CAUSE_LINES);
    }
}
