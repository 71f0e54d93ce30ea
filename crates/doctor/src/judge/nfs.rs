//! Whether NFS reaches what network and storage allow, and what stands in between.

use howdah_units as units;

use super::{mounts, session};
use crate::facts::{Facts, MovingFacts, NfsFacts, ServerTlsFacts, StorageFacts};
use crate::{Figure, Finding, Remedy, Rung, RungReport, Verdict};

/// A day in seconds.
const DAY: u64 = 86_400;
/// So many days before its end a certificate is worth a word.
const DAYS_SOON: u64 = 30;
/// NFS below this part of the lower of network and storage is held up by something of its own.
const OF_LOWER: f64 = 0.8;
/// Below this part of what the network carried a moment ago, a path that is full carries the data of others.
const OF_FULL_PATH: f64 = 0.5;
/// Calls that take less than this beyond the network, in seconds, say nothing about how many are answered at once.
const TELLING: f64 = 3e-3;
/// Calls made at once that take more than this part of what they would take one after the other are answered so.
const ONE_BY_ONE: f64 = 0.7;

/// Judges what the client saw, and mounts of this host's kernel.
pub fn nfs(facts: &Facts) -> RungReport {
    let mut findings = Vec::new();
    let mut figures = mounts::figures(&facts.mounts);
    let mut could_not = Vec::new();
    if let Some(nfs) = &facts.nfs {
        findings.extend(small_transfers(nfs));
        findings.extend(facts.storage.as_ref().and_then(one_by_one));
        findings.extend(slower_than_below(facts, nfs).filter(|_| findings.is_empty()));
        findings.extend(nfs.tls.iter().flat_map(ending));
        findings.extend(nfs.session.iter().flat_map(session::findings));
        figures.extend(self::figures(facts, nfs));
        could_not.clone_from(&nfs.could_not);
    }
    // With a target, other mounts are reported, but give no findings.
    if facts.target.is_none() {
        findings.extend(mounts::findings(&facts.mounts, &facts.host));
        if facts.mounts.is_empty() {
            return RungReport::absent(
                Rung::Nfs,
                "this host has no kernel mounts over NFS; howdah doctor nfs://HOST/EXPORT examines a server",
            );
        }
    }
    let mut report = RungReport { could_not, ..RungReport::seen(Rung::Nfs, figures, findings) };
    // Sizes alone do not show that nothing limits.
    let moved_nothing = facts.nfs.as_ref().is_some_and(|nfs| nfs.reads.is_none() && nfs.writes.is_none());
    if moved_nothing && report.verdict == Verdict::Healthy {
        report.verdict = Verdict::NotMeasured;
    }
    report
}

/// Whether it moves less than it should: then it is worth measuring once more before anybody is blamed.
pub fn is_low(facts: &Facts) -> bool {
    facts.nfs.as_ref().is_some_and(|nfs| slower_than_below(facts, nfs).is_some())
}

/// The lower of network and storage in one direction, in bytes per second, and which it is.
fn lower(facts: &Facts, writes: bool) -> Option<(f64, &'static str)> {
    let network = facts.path.as_ref().filter(|path| !path.is_local).and_then(|path| path.network(writes));
    let storage =
        facts.storage.as_ref().and_then(|storage| if writes { storage.writes } else { storage.reads });
    let network = network.map(|rate| (rate.bytes_per_second, "network"));
    let storage = storage.map(|rate| (rate, "storage"));
    network.into_iter().chain(storage).min_by(|one, other| one.0.total_cmp(&other.0))
}

/// What protects the calls.
fn protection(tls: &ServerTlsFacts) -> Figure {
    let days = tls.seconds_left / DAY;
    let ServerTlsFacts { suite, records, certificate, .. } = tls;
    let own = tls
        .own
        .as_ref()
        .map_or(String::new(), |own| format!(", ours {} has {} days left", own.name, own.seconds_left / DAY));
    Figure::told(
        "TLS",
        format!(
            "{suite}, records in {records}, the server's certificate {certificate} has {days} days left{own}"
        ),
    )
}

/// That a certificate ends soon: the server's, then every client is refused; or ours, then we are.
fn ending(tls: &ServerTlsFacts) -> Vec<Finding> {
    let of_server = (
        format!("the server's certificate {}", tls.certificate),
        tls.seconds_left,
        "at the server: replace tls_certificate and tls_key",
        "clients refuse a certificate that has expired",
    );
    let ours = tls.own.as_ref().map(|own| {
        let what = "replace the files of tlscert= and tlskey=";
        (
            format!("our certificate {}", own.name),
            own.seconds_left,
            what,
            "servers refuse a certificate that has expired",
        )
    });
    let soon = std::iter::once(of_server).chain(ours).filter(|(_, left, ..)| left / DAY < DAYS_SOON);
    soon.map(|(certificate, left, what, why)| {
        let renewed = Remedy::Advice { what: what.to_owned(), why: why.to_owned(), undo: None };
        Finding::note(format!("{certificate} expires in {} days", left / DAY)).mended_by(renewed)
    })
    .collect()
}

fn figures(facts: &Facts, nfs: &NfsFacts) -> Vec<Figure> {
    let mut figures = vec![
        Figure::told("bytes in a READ", units::power_of_two(nfs.read_size)),
        Figure::told("bytes in a WRITE", units::power_of_two(nfs.write_size)),
    ];
    figures.extend(nfs.session.iter().flat_map(session::figures));
    figures.extend(nfs.tls.iter().map(protection));
    for (name, moving, writes) in [("reads", &nfs.reads, false), ("writes", &nfs.writes, true)] {
        let Some(moving) = moving else { continue };
        let value = units::rate(moving.bytes_per_second);
        figures.push(match lower(facts, writes) {
            None => Figure::told(name, value),
            Some((rate, which)) => {
                let share = units::percent(moving.bytes_per_second / rate);
                Figure::told(name, format!("{value}, {share} of the {which}'s {}", units::rate(rate)))
            }
        });
        figures.extend(
            moving.sentence.as_ref().map(|says| Figure::told(format!("{name}, the client says"), says)),
        );
    }
    figures
}

fn small_transfers(nfs: &NfsFacts) -> Option<Finding> {
    let size = nfs.read_size.min(nfs.write_size);
    nfs.has_small_transfers().then(|| {
        let says = format!("a call transfers at most {}: each MiB takes {} calls", units::power_of_two(size), (1_u64 << 20).div_ceil(size));
        Finding::fault(says).mended_by(Remedy::Advice {
            what: "leave rsize and wsize out of the URL or the mount's options, and let the server take 1 MiB (knfsd: /proc/fs/nfsd/max_block_size; NFS-Ganesha: MaxRead, MaxWrite)".to_owned(),
            why: "fewer calls and round trips for the same bytes".to_owned(),
            undo: None,
        })
    })
}

/// Many calls at once take as long as one after the other.
fn one_by_one(storage: &StorageFacts) -> Option<Finding> {
    let (nothing, single, all) = (storage.nothing?, storage.attributes?, storage.at_once_seconds?);
    let beyond = single - nothing;
    if beyond < TELLING || storage.at_once < 2 {
        return None;
    }
    let one_after_the_other = beyond * storage.at_once as f64;
    (all - nothing > one_after_the_other * ONE_BY_ONE).then(|| {
        let says = format!(
            "the server answers one call at a time: {} at once took {}, one takes {}",
            storage.at_once,
            units::seconds(all),
            units::seconds(single)
        );
        Finding::fault(says).mended_by(Remedy::Advice {
            what: "give the server more threads: howdah serve --workers 32; knfsd: threads in /etc/nfs.conf"
                .to_owned(),
            why: "a call that waits for a disk holds its thread".to_owned(),
            undo: None,
        })
    })
}

fn slower_than_below(facts: &Facts, nfs: &NfsFacts) -> Option<Finding> {
    let ways = [(&nfs.reads, false, "read"), (&nfs.writes, true, "write")];
    ways.into_iter().find_map(|(moving, writes, word)| {
        let (moving, (rate, which)) = (moving.as_ref()?, lower(facts, writes)?);
        let share = moving.bytes_per_second / rate;
        (share < OF_LOWER).then(|| {
            let why = moving.sentence.as_ref().map_or(String::new(), |says| format!("; {says}"));
            let why = if is_shared(moving, share) { format!("; {SHARED}{why}") } else { why };
            let twice = if nfs.measured_twice { " in the better of two tries" } else { "" };
            let says = format!(
                "NFS {word}s reach {} of the {which}'s {}{twice}{why}",
                units::percent(share),
                units::rate(rate)
            );
            if is_excused(moving, share) { Finding::note(says) } else { Finding::fault(says) }
        })
    })
}

/// What a full path means that NFS has little of.
const SHARED: &str =
    "the path is full, mostly with other traffic: wait for it, or limit it (howdah cp --rate)";

/// Whether others fill the path: several connections at once were faster, so what NFS has is its share.
fn is_shared(moving: &MovingFacts, share: f64) -> bool {
    moving.limit.as_deref() == Some("path") && share < OF_FULL_PATH
}

/// A short measurement may end before a connection has found its rate, and a busy processor here is no fault of NFS.
fn is_excused(moving: &MovingFacts, share: f64) -> bool {
    match moving.limit.as_deref() {
        None | Some("start" | "idle") => true,
        Some("path") => !is_shared(moving, share),
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{MountFacts, OwnCertificateFacts, PathFacts, RateFacts};

    fn moving(rate: f64, limit: &str) -> Option<MovingFacts> {
        Some(MovingFacts {
            bytes_per_second: rate,
            limit: Some(limit.to_owned()),
            sentence: Some(format!("limited by {limit}")),
        })
    }

    fn usual() -> Facts {
        let rate = Some(RateFacts { bytes_per_second: 100e6, ..RateFacts::default() });
        Facts {
            target: Some("nfs://host/".to_owned()),
            path: Some(PathFacts { there: rate.clone(), back: rate, ..PathFacts::default() }),
            storage: Some(StorageFacts {
                nothing: Some(0.01),
                attributes: Some(0.0101),
                at_once: 16,
                at_once_seconds: Some(0.011),
                ..StorageFacts::default()
            }),
            nfs: Some(NfsFacts {
                read_size: 1 << 20,
                write_size: 1 << 20,
                reads: moving(95e6, "path"),
                ..NfsFacts::default()
            }),
            ..Facts::default()
        }
    }

    #[test]
    fn a_certificate_that_ends_soon_is_worth_a_word_and_limits_nothing() {
        let mut facts = usual();
        for (days, found) in [(31, 0), (29, 1), (0, 1)] {
            let tls = ServerTlsFacts {
                suite: "TLS13_AES_256_GCM_SHA384".to_owned(),
                records: "user space".to_owned(),
                certificate: "nfs.example.org".to_owned(),
                seconds_left: days * DAY,
                own: None,
            };
            facts.nfs.as_mut().expect("some").tls = Some(tls);
            let report = nfs(&facts);
            assert_eq!((report.verdict, report.findings.len()), (Verdict::Healthy, found), "{days}");
            let of_tls = report.figures.iter().find(|figure| figure.name == "TLS").expect("a figure of TLS");
            assert!(of_tls.value.ends_with(&format!("nfs.example.org has {days} days left")), "{of_tls:?}");
        }
    }

    #[test]
    fn our_own_certificate_is_shown_and_its_end_told() {
        let mut facts = usual();
        for (days, found) in [(31, 0), (29, 1)] {
            facts.nfs.as_mut().expect("some").tls = Some(ServerTlsFacts {
                certificate: "nfs.example.org".to_owned(),
                seconds_left: 100 * DAY,
                own: Some(OwnCertificateFacts { name: "laptop".to_owned(), seconds_left: days * DAY }),
                ..ServerTlsFacts::default()
            });
            let report = nfs(&facts);
            let of_tls = report.figures.iter().find(|figure| figure.name == "TLS").expect("a figure of TLS");
            assert!(of_tls.value.ends_with(&format!("ours laptop has {days} days left")), "{of_tls:?}");
            let findings: Vec<_> = report.findings.iter().map(|finding| finding.says.clone()).collect();
            assert_eq!(findings.len(), found, "{findings:?}");
            assert!(
                findings.iter().all(|says| says == "our certificate laptop expires in 29 days"),
                "{findings:?}"
            );
        }
    }

    #[test]
    fn one_thing_wrong_is_one_thing_found() {
        let with = |change: fn(&mut NfsFacts)| {
            let mut facts = usual();
            change(facts.nfs.as_mut().expect("some"));
            facts
        };
        let mut serial = usual();
        serial.storage = Some(StorageFacts {
            nothing: Some(0.01),
            attributes: Some(0.02),
            at_once: 16,
            at_once_seconds: Some(0.17),
            ..StorageFacts::default()
        });
        let mut parallel = serial.clone();
        parallel.storage.as_mut().expect("some").at_once_seconds = Some(0.025);
        let mut slow_storage = with(|nfs| nfs.reads = moving(47e6, "server"));
        slow_storage.storage.as_mut().expect("some").reads = Some(50e6);
        for (facts, wanted) in [
            (usual(), None),
            (serial, Some("answers one call at a time: 16 at once took 170 ms")),
            (parallel, None),
            (slow_storage, None),
            (
                with(|nfs| nfs.read_size = 65_536),
                Some("a call transfers at most 64 KiB: each MiB takes 16 calls"),
            ),
            (
                with(|nfs| nfs.reads = moving(40e6, "their-window")),
                Some("NFS reads reach 40 % of the network's 100.0 MB/s; limited by"),
            ),
            (with(|nfs| nfs.writes = moving(40e6, "slots")), Some("NFS writes reach 40 %")),
            (with(|nfs| nfs.reads = moving(40e6, "start")), None),
        ] {
            let report = nfs(&facts);
            match wanted {
                None => assert_eq!(report.verdict, Verdict::Healthy, "{report:?}"),
                Some(says) => {
                    assert_eq!((report.verdict, report.findings.len()), (Verdict::Limits, 1), "{report:?}");
                    assert!(report.findings[0].says.contains(says), "{report:?}");
                }
            }
        }
    }

    #[test]
    fn a_rate_far_below_the_network_is_always_found() {
        let limits = ["path", "start", "idle", "slots", "server", "their-window", "loss", "processor"];
        for limit in limits.map(Some).into_iter().chain([None]) {
            for writes in [false, true] {
                let mut facts = usual();
                let slow = moving(9.6e6, limit.unwrap_or_default());
                let slow = slow.map(|slow| MovingFacts { limit: limit.map(str::to_owned), ..slow });
                let nfs = facts.nfs.as_mut().expect("some");
                *(if writes { &mut nfs.writes } else { &mut nfs.reads }) = slow;
                let report = super::nfs(&facts);
                let found = &report.findings[..];
                assert!(
                    found.len() == 1 && found[0].says.contains("reach 9.6 % of"),
                    "{limit:?}: {report:?}"
                );
                assert_eq!(found[0].says.contains("other traffic"), limit == Some("path"), "{report:?}");
                assert_eq!(
                    report.verdict == Verdict::Limits,
                    !matches!(limit, None | Some("start" | "idle"))
                );
            }
        }
        let mut facts = usual();
        facts.nfs.as_mut().expect("some").reads = moving(70e6, "path");
        assert_eq!(nfs(&facts).verdict, Verdict::Healthy, "a share that measuring twice may give");
    }

    #[test]
    fn nothing_moved_is_nothing_measured() {
        let mut facts = usual();
        let seen = facts.nfs.as_mut().expect("some");
        seen.reads = None;
        seen.could_not = vec!["writes and reads: read-only file system".to_owned()];
        let report = nfs(&facts);
        assert_eq!((report.verdict, report.could_not.len()), (Verdict::NotMeasured, 1), "{report:?}");
        facts.nfs.as_mut().expect("some").read_size = 65_536;
        assert_eq!(nfs(&facts).verdict, Verdict::Limits, "small transfers limit all the same");
    }

    #[test]
    fn without_a_target_it_is_about_mounts() {
        assert_eq!(nfs(&Facts::default()).verdict, Verdict::Absent);
        let small = MountFacts { on: "/mnt".to_owned(), read_size: Some(65_536), ..MountFacts::default() };
        let mut facts = Facts { mounts: vec![small], ..Facts::default() };
        assert_eq!(nfs(&facts).verdict, Verdict::Limits);
        facts.target = Some("nfs://elsewhere/".to_owned());
        assert_eq!(nfs(&facts).verdict, Verdict::Healthy, "another mount is not what was asked about");
    }
}
