//! What cargo builds and tests.

use std::process::Command;

use anyhow::Result;

use super::processes::run_and_look;
use super::step::{Context, Report};

/// Builds the binaries that interop runs.
pub fn build(context: &Context) -> Result<Report> {
    let status = run_and_look(
        Command::new(context.workspace.cargo())
            .args(["build", "--release", "-p", "howdah", "-p", "howdah-interop"])
            .current_dir(&context.workspace.root),
        |_| (),
    )?;
    if !status.success() {
        return Ok(Report::failed("cargo build --release failed"));
    }
    Ok(Report { passed: 1, ..Report::default() })
}

/// Runs all tests of the workspace, and counts.
pub fn run(context: &Context) -> Result<Report> {
    let mut report = Report::default();
    let status = run_and_look(
        Command::new(context.workspace.cargo())
            // What tests say that passed is shown too: some say that they were skipped, and why.
            .args(["test", "--workspace", "--no-fail-fast", "--", "--show-output"])
            .current_dir(&context.workspace.root),
        |line| report.count(line),
    )?;
    if !status.success() && report.failed == 0 {
        report.add(Report::failed(format!("cargo test ended with {status}")));
    }
    Ok(report)
}

impl Report {
    /// Counts a line of a test binary's output: `test result: ok. 3 passed; 0 failed; 1 ignored; …`, and remembers
    /// the names of those that failed. A test that says `skipped: …` is counted as that; the binary counts it among those
    /// that passed, too.
    pub fn count(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.remarks.push(format!("FAILED {name}"));
        }
        if let Some(why) = line.strip_prefix("skipped: ") {
            self.skipped += 1;
            let remark = format!("skipped: {why}");
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for part in counts.split("; ") {
            match part.split_once(' ').map(|(number, word)| (number.parse::<usize>(), word)) {
                Some((Ok(number), "passed")) => self.passed += number,
                Some((Ok(number), "failed")) => self.failed += number,
                Some((Ok(number), "ignored")) => self.skipped += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn counts_what_test_binaries_say() {
        let mut report = Report::default();
        report.count(
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        );
        report.count("test a::b ... FAILED");
        report.count("test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out");
        report.count("skipped: not installed: linux.uml");
        report.count("skipped: not installed: linux.uml");
        assert_eq!((report.passed, report.failed, report.skipped), (15, 1, 3));
        assert_eq!(report.remarks, ["FAILED a::b", "skipped: not installed: linux.uml"]);
    }
}
