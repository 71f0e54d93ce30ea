//! Names of what stands beside a file while it is copied.
//!
//! They follow from the final name and from where the source is, so that a copy that is started again finds what the
//! first one left, and two copies from different places do not meet.

use super::journal::checksum;

/// In the name of a partial file.
const PARTIAL: &str = "howdah-partial";
/// In the name of a journal.
const JOURNAL: &str = "howdah-journal";
/// What the marker of an unfinished tree begins with.
const MARKER: &str = ".howdah-copy-";

/// How many ids a copy tries.
const MOST_IDS: u64 = 4;

/// The longest final name that is shown in a partial name in full.
const LONGEST_SHOWN: usize = 200;

/// What distinguishes copies from different sources: follows from how the source is written, host and path.
pub fn source_id(label: &[u8]) -> u64 {
    checksum(0, label)
}

/// The ids under which a copy tries to keep its partial file, the usual one first: another user may have taken a name in a
/// directory where only owners remove.
pub(super) fn ids(id: u64) -> impl Iterator<Item = u64> {
    std::iter::once(id).chain((1..MOST_IDS).map(move |other: u64| checksum(id, &other.to_be_bytes())))
}

/// `.NAME.howdah-partial-ID`.
pub(super) fn partial(name: &[u8], id: u64) -> Vec<u8> {
    beside(name, PARTIAL, id)
}

/// The file by which a copy finds out whose files it makes. No name contains `/`, so no partial file has this number.
pub(super) fn probe(id: u64) -> Vec<u8> {
    partial(b"owner", checksum(id, b"/owner"))
}

/// `.NAME.howdah-journal-ID`.
pub(super) fn journal(name: &[u8], id: u64) -> Vec<u8> {
    beside(name, JOURNAL, id)
}

/// The empty file that marks a directory as a copy under way.
pub(super) fn marker(id: u64) -> Vec<u8> {
    format!("{MARKER}{id:016x}").into_bytes()
}

fn beside(name: &[u8], what: &str, id: u64) -> Vec<u8> {
    // The whole name is in the number, for names that are too long to be shown.
    let id = checksum(id, name);
    let shown = &name[..name.len().min(LONGEST_SHOWN)];
    [b".", shown, format!(".{what}-{id:016x}").as_bytes()].concat()
}

/// Whether a name is one of ours: what an interrupted copy left, which a copy of the tree does not take along.
pub fn is_ours(name: &[u8]) -> bool {
    let Some(at) = name.len().checked_sub(16) else { return false };
    let (start, id) = name.split_at(at);
    let is_id = id.iter().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit));
    let ends = |what: &str| start.ends_with(format!(".{what}-").as_bytes());
    is_id && (ends(PARTIAL) || ends(JOURNAL) || start == MARKER.as_bytes())
}

#[cfg(test)]
mod tests {
    use howdah_vfs::Name;

    use super::*;

    #[test]
    fn they_are_names_and_ours_and_differ() {
        let long = [b'x'; 255];
        let mut other = long;
        other[254] = b'y';
        let names = [
            partial(b"a", 1),
            partial(b"a", 2),
            journal(b"a", 1),
            partial(b"owner", 1),
            probe(1),
            partial(&long, 1),
            partial(&other, 1),
            marker(1),
        ];
        for (number, name) in names.iter().enumerate() {
            assert!(Name::parse(name).is_ok() && is_ours(name), "{}", name.escape_ascii());
            assert!(!names[..number].contains(name));
        }
        assert_eq!(partial(b"a", 1), partial(b"a", 1));
        assert!(
            !is_ours(b".a.howdah-partial-")
                && !is_ours(b"a")
                && !is_ours(b".a.howdah-partial-000000000000000G")
        );
    }
}
