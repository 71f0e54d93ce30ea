//! What heads disagree about. Pure.

use std::collections::BTreeSet;

use howdah_server::Envelope;

use super::HeadAnswers;
use super::answers::SeenExport;

/// The largest clock difference to ignore, in seconds. GETTIME has a resolution of one second.
const CLOCKS: u64 = 2;

/// Sizes of one file system differ by less than one part in so many: disks come and go between two looks.
const SIZES: u64 = 100;

/// What two heads disagree about, a sentence each with what to do.
pub fn compare((one, of_one): (&str, &HeadAnswers), (other, of_other): (&str, &HeadAnswers)) -> Vec<String> {
    let mut differences = Vec::new();
    differences.extend(clocks((one, of_one.ahead), (other, of_other.ahead)));
    let names: BTreeSet<_> = of_one.exports.keys().chain(of_other.exports.keys()).collect();
    for name in names {
        match (of_one.exports.get(name), of_other.exports.get(name)) {
            (Some(Ok(first)), Some(Ok(second))) => {
                let pair = Pair { export: name, heads: [one, other], seen: [first, second] };
                differences.extend(pair.differences());
            }
            (Some(_), Some(_)) => {}
            (here, _) => {
                let [has, lacks] = if here.is_some() { [one, other] } else { [other, one] };
                differences.push(format!(
                    "export {name} is on {has} and not on {lacks}: clients lose it when they move; export it on both"
                ));
            }
        }
    }
    differences
}

fn clocks((one, first): (&str, Option<i64>), (other, second): (&str, Option<i64>)) -> Option<String> {
    let (first, second) = first.zip(second)?;
    let apart = first.abs_diff(second);
    let (late, early) = if first > second { (one, other) } else { (other, one) };
    (apart > CLOCKS).then(|| {
        format!(
            "the clock of {late} is {apart} s ahead of that of {early}: times of files go back when clients move, and caches keep old \
             data; set both by NTP"
        )
    })
}

/// Whether two sizes may be of one file system.
fn are_alike(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one.max(other) / SIZES
}

/// One export on two heads.
struct Pair<'a> {
    export: &'a str,
    heads: [&'a str; 2],
    seen: [&'a SeenExport; 2],
}

impl Pair<'_> {
    fn differences(&self) -> Vec<String> {
        let [one, other] = self.seen;
        let [first, second] = self.heads;
        let both = format!("export {} of {first} and {second}", self.export);
        let mut differences: Vec<String> =
            self.root().into_iter().map(|what| format!("{both}: {what}")).collect();
        let mut note = |differs: bool, what: String| {
            if differs {
                differences.push(format!("{both}: {what}"));
            }
        };
        note(
            one.file_system != other.file_system,
            format!(
                "the file systems have the numbers (fsid) {:x} and {:x}, so that clients take them for two; give the export the same id",
                one.file_system, other.file_system
            ),
        );
        note(
            one.file != other.file || !are_alike(one.bytes, other.bytes),
            "the directories are not the same one (number of the root, or size of the file system); mount the same cluster at both"
                .to_owned(),
        );
        note(
            one.verifier.is_some() && one.verifier == other.verifier,
            "the write verifiers are equal, so that data which only one head has is lost with it, and no client notices; give each head a \
             state directory of its own"
                .to_owned(),
        );
        if let Some(name) = self.name_that_differs() {
            note(
                true,
                format!(
                    "{name} has another handle or file number on each; this cluster file system numbers files differently on each host"
                ),
            );
        }
        differences
    }

    /// Differences in the handles of the roots.
    fn root(&self) -> Vec<String> {
        let [one, other] = self.seen.map(|seen| &seen.root);
        if one == other {
            return Vec::new();
        }
        let (Some(one), Some(other)) = (Envelope::parse(one), Envelope::parse(other)) else {
            return vec!["the handles of the roots differ, and one is not of a howdah server".to_owned()];
        };
        let mut differences = Vec::new();
        if one.export != other.export {
            differences.push(format!(
                "the export has the ids {} and {}, so that no handle of one is good at the other; configure the same [cluster] id, or write \
                 the same id into both [[export]] sections",
                one.export, other.export
            ));
        }
        if one.inner != other.inner {
            differences.push(
                "the handles of the roots differ in what the file system made of them: not the same directory, or a file system whose \
                 handles are good on one host alone"
                    .to_owned(),
            );
        }
        if differences.is_empty() {
            differences.push(
                "the keys of handles differ, so that clients get NFS3ERR_STALE when they move; configure the same [cluster] id and copy \
                 key_file from one to the other"
                    .to_owned(),
            );
        }
        differences
    }

    /// A name that leads to another node. Handles are compared without what the key and the export's id make of them.
    fn name_that_differs(&self) -> Option<&String> {
        let [one, other] = self.seen;
        let inner =
            |handle: &Vec<u8>| Envelope::parse(handle).map_or(handle.clone(), |seen| seen.inner.to_vec());
        let both = one.names.iter().filter_map(|(name, found)| Some((name, found, other.names.get(name)?)));
        let mut differing =
            both.filter(|(_, first, second)| first.1 != second.1 || inner(&first.0) != inner(&second.0));
        differing.next().map(|(name, ..)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(export: u32, checksum: u64, inner: &[u8]) -> Vec<u8> {
        [&[1][..], &export.to_be_bytes(), &checksum.to_be_bytes(), inner].concat()
    }

    fn seen(verifier: u8) -> SeenExport {
        let names = [("a".to_owned(), (handle(7, 2, b"a"), 3))];
        SeenExport {
            root: handle(7, 1, b"root"),
            file_system: 5,
            file: 1,
            bytes: 1000,
            verifier: Some([verifier; 8]),
            names: names.into_iter().collect(),
        }
    }

    fn answers(seen: SeenExport) -> HeadAnswers {
        HeadAnswers { ahead: Some(0), exports: [("/data".to_owned(), Ok(seen))].into_iter().collect() }
    }

    fn differences(other: &HeadAnswers) -> Vec<String> {
        compare(("nfs1", &answers(seen(1))), ("nfs2", other))
    }

    fn told_of(change: impl FnOnce(&mut SeenExport)) -> String {
        let mut other = seen(2);
        change(&mut other);
        differences(&answers(other)).join(" | ")
    }

    #[test]
    fn heads_that_agree_have_nothing_but_other_verifiers() {
        assert_eq!(told_of(|_| {}), "");
        assert!(told_of(|seen| seen.verifier = Some([1; 8])).contains("state directory of its own"));
        assert_eq!(told_of(|seen| seen.verifier = None), "");
    }

    #[test]
    fn each_disagreement_is_named() {
        assert!(told_of(|seen| seen.root = handle(7, 9, b"root")).contains("copy key_file"));
        let id = told_of(|seen| seen.root = handle(8, 9, b"root"));
        assert!(id.contains("the ids 7 and 8") && !id.contains("key_file"), "{id}");
        assert!(told_of(|seen| seen.root = handle(7, 9, b"else")).contains("not the same directory"));
        assert!(told_of(|seen| seen.root = b"of another server".to_vec()).contains("not of a howdah"));
        assert!(told_of(|seen| seen.file_system = 6).contains("(fsid) 5 and 6"));
        assert!(told_of(|seen| seen.bytes = 989).contains("mount the same cluster"));
        assert_eq!(told_of(|seen| seen.bytes = 990), "", "a disk was added meanwhile");
        let renumbered = told_of(|seen| seen.names.get_mut("a").expect("there").1 = 4);
        assert!(renumbered.contains("a has another handle or file number"), "{renumbered}");
        assert_eq!(told_of(|seen| seen.names.get_mut("a").expect("there").0 = handle(8, 9, b"a")), "");
    }

    #[test]
    fn clocks_and_lists_are_compared() {
        let late = differences(&HeadAnswers { ahead: Some(3600), ..answers(seen(2)) });
        assert!(
            late.len() == 1 && late[0].contains("the clock of nfs2 is 3600 s ahead of that of nfs1"),
            "{late:?}"
        );
        assert_eq!(differences(&HeadAnswers { ahead: Some(-2), ..answers(seen(2)) }), [""; 0]);
        assert_eq!(differences(&HeadAnswers { ahead: None, ..answers(seen(2)) }), [""; 0]);
        let mut more = answers(seen(2));
        more.exports.insert("/more".to_owned(), Ok(seen(2)));
        let differences = differences(&more);
        assert!(
            differences.len() == 1 && differences[0].contains("export /more is on nfs2 and not on nfs1"),
            "{differences:?}"
        );
    }
}
