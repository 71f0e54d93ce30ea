//! What failed and why, the table at the end, and the one line after it.

use std::process::ExitCode;
use std::time::Duration;

use super::step::Report;

/// Prints what ran, what was skipped and why; says whether all is well.
pub fn print(reports: &[(&str, Duration, Report)]) -> ExitCode {
    for (name, _, report) in reports.iter().filter(|(.., report)| !report.causes.is_empty()) {
        println!("\n{name}, what failed:");
        report.causes.iter().for_each(|line| println!("{line}"));
    }
    println!("\n{:<14} {:>7} {:>7} {:>7} {:>8}", "step", "passed", "failed", "skipped", "seconds");
    for (name, took, report) in reports {
        let Report { passed, failed, skipped, remarks, .. } = report;
        println!("{name:<14} {passed:>7} {failed:>7} {skipped:>7} {:>8.1}", took.as_secs_f64());
        for remark in remarks {
            println!("               {remark}");
        }
    }
    let mut total = Report::default();
    for (_, _, report) in reports {
        total.passed += report.passed;
        total.failed += report.failed;
        total.skipped += report.skipped;
        for (why, count) in &report.reasons {
            *total.reasons.entry(why.clone()).or_default() += count;
        }
    }
    if !total.reasons.is_empty() {
        println!("\ntests that did not run, or not in full:");
        total.reasons.iter().for_each(|(why, count)| println!("{count:>7}  {why}"));
    }
    println!("\n{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped);
    if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
