//! What the server said of files, who may read them, and which changes of ours are under way. Knows no file system and no clock.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use howdah_vfs::{Attributes, Caller, Change, FileKind, Handle};

use super::chain::{ChainEnd, ChangeChain};
use super::tag::ContentTag;
use crate::generations::Generations;

/// Files remembered, each with about 400 bytes.
const FILES_MAX: usize = 1 << 14;
/// Callers remembered for each.
const READERS_MAX: usize = 8;

/// All of them.
pub struct SeenFiles {
    files: Generations<Handle, SeenFile>,
    /// Files with changes of ours under way. None of them is forgotten before these end.
    open: HashMap<Handle, OpenFile>,
}

/// Changes of ours to a file that are under way, and the bytes that each changes.
#[derive(Default)]
struct OpenFile {
    chain: ChangeChain,
    cuts: Vec<Range<u64>>,
}

#[derive(Default)]
struct SeenFile {
    seen: Option<Seen>,
    /// When a change of ours ended last.
    changed: Duration,
    /// The callers that the server let read the file while it was as it was seen.
    readers: Vec<Caller>,
}

struct Seen {
    attributes: Attributes,
    /// When the server was asked, and when its answer came.
    asked: Duration,
    answered: Duration,
}

impl Default for SeenFiles {
    fn default() -> Self {
        Self { files: Generations::new(FILES_MAX), open: HashMap::new() }
    }
}

impl SeenFiles {
    /// The server was asked at one time what a file is like, and answered at another. An answer that crossed a change of ours is not
    /// believed; of answers that crossed each other, the newer one is.
    pub fn saw(&mut self, node: &Handle, now: &Attributes, (asked, answered): (Duration, Duration)) {
        if now.kind != FileKind::Regular || self.open.contains_key(node) {
            return;
        }
        let file = self.file(node);
        if asked < file.changed {
            return;
        }
        if let Some(seen) = &mut file.seen {
            let is_same = ContentTag::of(&seen.attributes) == ContentTag::of(now);
            let crossed = seen.answered >= asked;
            if is_same {
                (seen.asked, seen.answered) = (seen.asked.max(asked), seen.answered.max(answered));
                return;
            }
            if crossed && seen.attributes.version() > now.version() {
                return;
            }
            let is_undecided = crossed && seen.attributes.version() == now.version();
            file.readers.clear();
            if is_undecided {
                file.seen = None;
                return;
            }
        }
        file.seen = Some(Seen { attributes: *now, asked, answered });
    }

    /// The server let a caller read a file that was like this.
    pub fn may_read(&mut self, node: &Handle, then: &Attributes, caller: &Caller) {
        let file = self.file(node);
        let is_same = |seen: &Seen| ContentTag::of(&seen.attributes) == ContentTag::of(then);
        if file.seen.as_ref().is_some_and(is_same) && !file.readers.contains(caller) {
            file.readers.truncate(READERS_MAX - 1);
            file.readers.insert(0, caller.clone());
        }
    }

    /// What a file is like, if the server was asked less than `age` ago and this caller may read it.
    pub fn current(
        &mut self,
        node: &Handle,
        caller: &Caller,
        now: Duration,
        age: Duration,
    ) -> Option<Attributes> {
        if self.open.contains_key(node) {
            return None;
        }
        let file = self.files.get_mut(node)?;
        let seen = file.seen.as_ref().filter(|seen| now.saturating_sub(seen.asked) < age)?;
        file.readers.contains(caller).then_some(seen.attributes)
    }

    /// The content that a file was seen with last, however long ago; `None` while changes of ours are under way.
    pub fn tag(&mut self, node: &Handle) -> Option<ContentTag> {
        if self.open.contains_key(node) {
            return None;
        }
        self.files.get_mut(node)?.seen.as_ref().map(|seen| ContentTag::of(&seen.attributes))
    }

    /// A change of ours to these bytes of a file begins. Of two that overlap, nobody knows which comes last.
    pub fn begin(&mut self, node: &Handle, cut: Range<u64>) {
        let seen = self.files.get_mut(node).and_then(|file| file.seen.as_ref()).map(|seen| seen.attributes);
        let OpenFile { chain, cuts } = self.open.entry(*node).or_default();
        chain.begin(seen);
        if cuts.iter().any(|other| other.start < cut.end && cut.start < other.end) {
            chain.spoil();
        }
        cuts.push(cut);
    }

    /// It has ended; it began at one time, and its answer came at another. `sets_rights`: who may read may be others now.
    pub fn end(
        &mut self,
        node: &Handle,
        change: &Change,
        (asked, answered): (Duration, Duration),
        cut: &Range<u64>,
        sets_rights: bool,
    ) -> ChainEnd {
        let end = self.open.get_mut(node).map_or(ChainEnd::Broken, |OpenFile { chain, cuts }| {
            let place = cuts.iter().position(|other| other == cut);
            place.map(|place| cuts.swap_remove(place));
            chain.end(change)
        });
        let file = self.file(node);
        file.changed = answered;
        if sets_rights {
            file.readers.clear();
        }
        match end {
            ChainEnd::Open => return end,
            ChainEnd::Whole(attributes) => file.seen = Some(Seen { attributes, asked, answered }),
            ChainEnd::Broken => (file.seen, file.readers) = (None, Vec::new()),
        }
        self.open.remove(node);
        end
    }

    /// What a file is like nobody knows: the server is asked before anything of it is given.
    pub fn forget(&mut self, node: &Handle) {
        if let Some(open) = self.open.get_mut(node) {
            open.chain.spoil();
        }
        if let Some(file) = self.files.get_mut(node) {
            (file.seen, file.readers) = (None, Vec::new());
        }
    }

    /// The same, also for answers to questions that were asked before now.
    pub fn doubt(&mut self, node: &Handle, now: Duration) {
        self.forget(node);
        self.file(node).changed = now;
    }

    fn file(&mut self, node: &Handle) -> &mut SeenFile {
        if self.files.get_mut(node).is_none() {
            self.files.insert(*node, SeenFile::default());
        }
        self.files.get_mut(node).expect("it was put there")
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::FileSystem;
    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    const ME: Caller = Caller::ROOT;

    fn at(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    fn file(nanoseconds: u32) -> (Handle, Attributes) {
        let fs = MemoryFileSystem::new();
        let attributes = fs.attributes(&ME, &fs.root()).expect("attributes");
        let mut changed = attributes.changed;
        changed.nanoseconds += nanoseconds;
        let node = Handle::new(b"file").expect("short");
        (node, Attributes { kind: FileKind::Regular, file_system: 1, ..attributes }.with_changed(changed))
    }

    fn known(seen: &mut SeenFiles, now: u64) -> Option<Attributes> {
        seen.current(&file(0).0, &ME, at(now), at(3))
    }

    #[test]
    fn a_file_is_given_while_it_was_asked_for_lately_and_to_whom_the_server_let_read_it() {
        let ((node, one), mut seen) = (file(1), SeenFiles::default());
        seen.saw(&node, &one, (at(1), at(2)));
        assert_eq!(known(&mut seen, 2), None, "nobody said who may read it");
        seen.may_read(&node, &file(2).1, &ME);
        assert_eq!(known(&mut seen, 2), None, "that was another content");
        seen.may_read(&node, &one, &ME);
        assert_eq!(known(&mut seen, 3), Some(one));
        assert_eq!(seen.current(&node, &Caller::new(5, 5), at(3), at(3)), None);
        assert_eq!(known(&mut seen, 4), None, "too long ago");
        seen.saw(&node, &one, (at(4), at(5)));
        assert_eq!(known(&mut seen, 6), Some(one));
        seen.saw(&node, &file(2).1, (at(6), at(7)));
        assert_eq!(known(&mut seen, 7), None, "rights may have changed, too");
    }

    #[test]
    fn of_answers_that_crossed_the_newer_one_counts() {
        let ((node, one), (_, two)) = (file(1), file(2));
        let tag = |answers: &[(Attributes, u64, u64)]| {
            let mut seen = SeenFiles::default();
            answers
                .iter()
                .for_each(|(now, asked, answered)| seen.saw(&node, now, (at(*asked), at(*answered))));
            seen.tag(&node)
        };
        assert_eq!(tag(&[(two, 1, 3), (one, 2, 4)]), Some(ContentTag::of(&two)));
        assert_eq!(tag(&[(two, 1, 3), (one, 4, 5)]), Some(ContentTag::of(&one)), "a clock was set back");
        assert_eq!(tag(&[(two, 1, 3), (Attributes { size: 77, ..two }, 2, 4)]), None);
    }

    #[test]
    fn an_answer_that_crossed_a_doubt_does_not_count() {
        let ((node, one), mut seen) = (file(1), SeenFiles::default());
        seen.doubt(&node, at(2));
        seen.saw(&node, &one, (at(1), at(3)));
        assert_eq!(seen.tag(&node), None, "it was asked before");
        seen.saw(&node, &one, (at(3), at(4)));
        assert_eq!(seen.tag(&node), Some(ContentTag::of(&one)));
    }

    #[test]
    fn while_changes_are_under_way_nothing_is_known_and_a_chain_tells_it_again() {
        let ((node, one), (_, two), mut seen) = (file(1), file(2), SeenFiles::default());
        seen.saw(&node, &one, (at(1), at(1)));
        seen.may_read(&node, &one, &ME);
        seen.begin(&node, 0..10);
        seen.saw(&node, &two, (at(1), at(2)));
        assert_eq!((known(&mut seen, 2), seen.tag(&node)), (None, None));
        let change = Change { before: Some((&one).into()), after: Some(two) };
        assert_eq!(seen.end(&node, &change, (at(1), at(3)), &(0..10), false), ChainEnd::Whole(two));
        assert_eq!(known(&mut seen, 3), Some(two));
        seen.saw(&node, &one, (at(2), at(4)));
        assert_eq!(known(&mut seen, 3), Some(two), "an answer that crossed the change");
        seen.begin(&node, 0..10);
        assert_eq!(seen.end(&node, &change, (at(4), at(5)), &(0..10), false), ChainEnd::Broken);
        assert_eq!(known(&mut seen, 5), None);
    }

    #[test]
    fn of_changes_that_overlap_nobody_knows_the_last() {
        let ((node, one), (_, two), (_, three)) = (file(1), file(2), file(3));
        let links = [
            Change { before: Some((&one).into()), after: Some(two) },
            Change { before: Some((&two).into()), after: Some(three) },
        ];
        for (other, end) in [(10..20, ChainEnd::Whole(three)), (9..20, ChainEnd::Broken)] {
            let mut seen = SeenFiles::default();
            seen.saw(&node, &one, (at(1), at(1)));
            seen.begin(&node, 0..10);
            seen.begin(&node, other.clone());
            assert_eq!(seen.end(&node, &links[0], (at(1), at(2)), &(0..10), false), ChainEnd::Open);
            assert_eq!(seen.end(&node, &links[1], (at(1), at(2)), &other, false), end);
        }
    }
}
