//! Whether a server's storage is in the way.

use howdah_units as units;

use crate::facts::{NfsFacts, PathFacts, StorageFacts};
use crate::{Figure, Finding, Remedy, Rung, RungReport};

/// What a single call may take beyond the network, in seconds: more than two seeks of a disk.
const SLOW_CALL: f64 = 0.025;
/// NFS below this part of the network is held up by something.
const OF_NETWORK: f64 = 0.8;

/// Judges storage, and what the client says of the server's time.
pub fn storage(facts: &StorageFacts, path: Option<&PathFacts>, nfs: Option<&NfsFacts>) -> RungReport {
    let mut findings = Vec::new();
    findings.extend(slow_calls(facts));
    if findings.is_empty() {
        findings.extend(slow_server(path, nfs));
    }
    findings.extend(slow_directory(facts, path));
    RungReport::seen(Rung::Storage, figures(facts), findings)
}

/// What a kind of call takes beyond one that asks for nothing.
fn beyond(facts: &StorageFacts, call: Option<f64>) -> Option<f64> {
    Some((call? - facts.nothing?).max(0.0))
}

fn figures(facts: &StorageFacts) -> Vec<Figure> {
    let limit = || format!("less than {}", units::seconds(SLOW_CALL));
    let call = |name: &str, seconds: Option<f64>| {
        let beyond = beyond(facts, seconds)?;
        Some(Figure::against(format!("{name}, beyond the network"), units::seconds(beyond), limit()))
    };
    let mut figures: Vec<Figure> = Vec::new();
    figures.extend(facts.nothing.map(|seconds| Figure::told("a NULL call", units::seconds(seconds))));
    figures.extend(call("attributes", facts.attributes));
    figures.extend(call("a small READ", facts.read));
    let directory = facts.directory.as_deref().unwrap_or_default();
    figures.extend(facts.writes.map(|rate| Figure::told(format!("{directory}, written"), units::rate(rate))));
    figures.extend(facts.reads.map(|rate| Figure::told(format!("{directory}, read"), units::rate(rate))));
    figures
}

fn slow_calls(facts: &StorageFacts) -> Option<Finding> {
    let calls = [("a small READ", facts.read), ("attributes", facts.attributes)];
    let slow = calls.into_iter().find_map(|(name, seconds)| {
        let beyond = beyond(facts, seconds).filter(|beyond| *beyond > SLOW_CALL)?;
        Some((name, beyond))
    });
    let (name, beyond) = slow?;
    let nothing = units::seconds(facts.nothing.unwrap_or_default());
    let says = format!(
        "{name} takes {} in addition to the network, where a NULL call takes {nothing}",
        units::seconds(beyond)
    );
    Some(Finding::fault(says).mended_by(look_there()))
}

fn slow_server(path: Option<&PathFacts>, nfs: Option<&NfsFacts>) -> Option<Finding> {
    let (path, nfs) = (path?, nfs?);
    // In small transfers the time of a call counts for more than storage: that is found at NFS.
    if path.is_local || nfs.has_small_transfers() {
        return None;
    }
    let ways = [(&nfs.reads, false, "reads"), (&nfs.writes, true, "writes")];
    let (moving, word) = ways.into_iter().find_map(|(moving, writes, word)| {
        let moving = moving.as_ref().filter(|moving| moving.limit.as_deref() == Some("server"))?;
        let network = path.network(writes)?;
        (moving.bytes_per_second < network.bytes_per_second * OF_NETWORK).then_some((moving, word))
    })?;
    let says =
        format!("{word} reach {}, and the server answers slowly", units::rate(moving.bytes_per_second));
    Some(Finding::fault(says).mended_by(look_there()))
}

/// A directory of this host that is slower than the network that it is served by.
fn slow_directory(facts: &StorageFacts, path: Option<&PathFacts>) -> Option<Finding> {
    let network = path.filter(|path| !path.is_local)?;
    let slow = [(facts.writes, true, "written"), (facts.reads, false, "read")];
    slow.into_iter().find_map(|(rate, writes, word)| {
        let (rate, network) = (rate?, network.network(writes)?.bytes_per_second);
        let directory = facts.directory.as_deref().unwrap_or_default();
        (rate < network * OF_NETWORK).then(|| {
            Finding::fault(format!(
                "{directory} is {word} at {}, but the network carries {}",
                units::rate(rate),
                units::rate(network)
            ))
        })
    })
}

fn look_there() -> Remedy {
    Remedy::Advice {
        what: "at the server: howdah stat shows how long its storage takes, howdah bench DIR what it can do, iostat -x what its disks do".to_owned(),
        why: "no setting of the network makes storage faster".to_owned(),
        undo: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;
    use crate::facts::{MovingFacts, RateFacts};

    fn usual() -> StorageFacts {
        StorageFacts {
            nothing: Some(0.0301),
            attributes: Some(0.0302),
            read: Some(0.038),
            ..StorageFacts::default()
        }
    }

    fn path(rate: f64) -> PathFacts {
        let rate = Some(RateFacts { bytes_per_second: rate, ..RateFacts::default() });
        PathFacts { there: rate.clone(), back: rate, ..PathFacts::default() }
    }

    fn nfs(rate: f64, limit: &str) -> NfsFacts {
        let reads = MovingFacts { bytes_per_second: rate, limit: Some(limit.to_owned()), sentence: None };
        NfsFacts { reads: Some(reads), read_size: 1 << 20, write_size: 1 << 20, ..NfsFacts::default() }
    }

    #[test]
    fn small_transfers_are_no_matter_of_storage() {
        let small = NfsFacts { read_size: 65_536, ..nfs(40e6, "server") };
        assert_eq!(storage(&usual(), Some(&path(100e6)), Some(&small)).verdict, Verdict::Healthy);
    }

    #[test]
    fn one_thing_wrong_is_one_thing_found() {
        let slow = StorageFacts { read: Some(0.23), ..usual() };
        let slow_names = StorageFacts { attributes: Some(0.23), ..usual() };
        let directory = StorageFacts { directory: Some("/srv".to_owned()), writes: Some(50e6), ..usual() };
        for (facts, path, nfs, wanted) in [
            (usual(), None, None, None),
            (StorageFacts::default(), None, None, None),
            (usual(), Some(path(100e6)), Some(nfs(95e6, "path")), None),
            (usual(), Some(path(100e6)), Some(nfs(40e6, "requests")), None),
            (usual(), Some(path(100e6)), Some(nfs(40e6, "server")), Some("reads reach 40.0 MB/s")),
            (slow, None, None, Some("a small READ takes 200 ms in addition to the network")),
            (slow_names, None, None, Some("attributes takes 200 ms")),
            (directory.clone(), Some(path(100e6)), None, Some("/srv is written at 50.0 MB/s")),
            (directory, Some(path(10e6)), None, None),
        ] {
            let report = storage(&facts, path.as_ref(), nfs.as_ref());
            match wanted {
                None => assert_eq!(report.verdict, Verdict::Healthy, "{report:?}"),
                Some(says) => {
                    assert_eq!((report.verdict, report.findings.len()), (Verdict::Limits, 1), "{report:?}");
                    assert!(report.findings[0].says.contains(says), "{report:?}");
                }
            }
        }
    }
}
