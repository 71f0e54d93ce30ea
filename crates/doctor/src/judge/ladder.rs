//! All rungs, from below.

use super::{host, interfaces, nfs, path, storage};
use crate::facts::Facts;
use crate::{Need, Report, Rung, RungReport};

/// Judges what was seen.
pub fn judge(facts: &Facts) -> Report {
    let need = facts.path.as_ref().filter(|path| !path.is_local).and_then(path::need);
    let mut rungs = vec![hosts(facts, need.as_ref()), interfaces::interfaces(&facts.interfaces)];
    let reads = facts.nfs.as_ref().and_then(|nfs| nfs.reads.as_ref());
    let nfs_reads = reads.is_some_and(|reads| reads.bytes_per_second > 0.0);
    let path = |seen| {
        let Facts { interfaces, host, expected_bits_per_second, .. } = facts;
        path::path(seen, interfaces, host, nfs_reads, *expected_bits_per_second)
    };
    rungs.extend(facts.path.as_ref().map(path));
    let storage = |seen| storage::storage(seen, facts.path.as_ref(), facts.nfs.as_ref());
    rungs.extend(facts.storage.as_ref().map(storage));
    if facts.target.is_none() || facts.nfs.is_some() {
        rungs.push(nfs::nfs(facts));
    }
    rungs.extend(facts.missing.iter().map(|(rung, why)| RungReport::not_measured(*rung, why)));
    rungs.sort_by_key(|report| report.rung);
    Report { rungs }
}

/// This host, and the other where a doctor listens there.
fn hosts(facts: &Facts, need: Option<&Need>) -> RungReport {
    let mut report = host::host(&facts.host, need);
    let Some(other) = &facts.other_host else { return report };
    let theirs = host::host(other, need);
    report.figures.extend(theirs.figures.into_iter().map(|mut figure| {
        figure.name = format!("there: {}", figure.name);
        figure
    }));
    report.findings.extend(theirs.findings.into_iter().map(there));
    RungReport {
        could_not: report.could_not,
        ..RungReport::seen(Rung::Host, report.figures, report.findings)
    }
}

/// What is found on the other host cannot be mended from here.
fn there(mut finding: crate::Finding) -> crate::Finding {
    finding.says = format!("at the other end: {}", finding.says.replace("this host", "that host"));
    let advice = |remedy: &crate::Remedy| crate::Remedy::Advice {
        what: format!("at the other end: {}", remedy.command()),
        why: remedy.why().to_owned(),
        undo: remedy.undo().map(|undo| format!("at the other end: {undo}")),
    };
    finding.remedies = finding.remedies.iter().map(advice).collect();
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{HostFacts, PathFacts, RateFacts, TrainFacts};

    fn small() -> HostFacts {
        HostFacts { tcp_send: Some([4096, 16_384, 212_992]), ..HostFacts::default() }
    }

    fn far() -> PathFacts {
        let there = Some(RateFacts { bytes_per_second: 12e6, ..RateFacts::default() });
        PathFacts { round_trip: Some(0.03), there, ..PathFacts::default() }
    }

    #[test]
    fn the_lowest_rung_that_limits_is_named_first() {
        let lossy =
            PathFacts { train: Some(TrainFacts { sent: 1000, came: 900, ..TrainFacts::default() }), ..far() };
        let mut facts =
            Facts { target: Some("nfs://host/".to_owned()), path: Some(lossy), ..Facts::default() };
        assert_eq!(judge(&facts).limiting().map(|(rung, _)| rung), Some(Rung::Path));
        facts.host = small();
        let report = judge(&facts);
        assert_eq!(report.limiting().map(|(rung, _)| rung), Some(Rung::Host));
        assert_eq!(report.remedies().len(), 2, "both are worth mending: {report:?}");
    }

    #[test]
    fn nothing_is_to_do_where_nothing_is_wrong() {
        let facts = Facts { target: Some("nfs://host/".to_owned()), path: Some(far()), ..Facts::default() };
        let report = judge(&facts);
        assert!(report.limiting().is_none() && report.remedies().is_empty(), "{report:?}");
    }

    #[test]
    fn the_other_host_is_judged_and_mended_there() {
        let facts = Facts {
            target: Some("nfs://host/".to_owned()),
            path: Some(far()),
            other_host: Some(small()),
            ..Facts::default()
        };
        let report = judge(&facts);
        let (rung, finding) = report.limiting().expect("found");
        assert_eq!(rung, Rung::Host);
        assert!(
            finding.says.starts_with("at the other end: a connection of that host may send"),
            "{finding:?}"
        );
        assert!(!finding.remedies[0].can_be_applied());
    }

    #[test]
    fn facts_survive_being_written_down() {
        let facts = Facts {
            target: Some("nfs://host/".to_owned()),
            path: Some(far()),
            host: small(),
            ..Facts::default()
        };
        let text = serde_json::to_string(&facts).expect("written");
        assert_eq!(serde_json::from_str::<Facts>(&text).expect("read"), facts);
        assert_eq!(serde_json::from_str::<Facts>("{}").expect("read"), Facts::default());
    }
}
