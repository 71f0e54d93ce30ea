//! Changes of one file that are under way here: whether they account for all that happened to it. Knows no file system.

use howdah_vfs::{Attributes, Before, Change};

/// Answers that fit nowhere yet; of more, nobody knows what happened.
const LOOSE_MAX: usize = 256;

/// A file's changes of ours that overlap. Each answer says what the file was like before and after. When all link up to one chain,
/// nobody else changed the file meanwhile.
#[derive(Debug, Default)]
pub struct ChangeChain {
    under_way: usize,
    /// What the file is like after the changes that link up; `None`: nobody knows.
    tip: Option<Attributes>,
    loose: Vec<(Before, Attributes)>,
}

/// What is known when a change has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainEnd {
    /// Others are under way.
    Open,
    /// It was the last, and the file is like this by changes of ours alone.
    Whole(Attributes),
    /// It was the last, and somebody else may have changed the file.
    Broken,
}

impl ChangeChain {
    /// A change begins of a file that was like this when it was seen last.
    pub fn begin(&mut self, seen: Option<Attributes>) {
        if self.under_way == 0 {
            self.tip = seen;
            self.loose.clear();
        }
        self.under_way += 1;
    }

    /// Whatever the answers say, they do not account for all that happened.
    pub fn spoil(&mut self) {
        self.tip = None;
    }

    /// A change has ended, and the server said this.
    pub fn end(&mut self, change: &Change) -> ChainEnd {
        self.under_way = self.under_way.saturating_sub(1);
        match (change.before, change.after) {
            (Some(before), Some(after)) if self.loose.len() < LOOSE_MAX => self.loose.push((before, after)),
            _ => self.tip = None,
        }
        while let Some(tip) = &self.tip
            && let Some(next) = self.loose.iter().position(|(before, _)| *before == Before::from(tip))
        {
            self.tip = Some(self.loose.swap_remove(next).1);
        }
        match self.tip {
            _ if self.under_way > 0 => ChainEnd::Open,
            Some(tip) if self.loose.is_empty() => ChainEnd::Whole(tip),
            _ => ChainEnd::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Caller, FileSystem};

    use super::*;

    /// A file at several moments.
    fn at(number: u32) -> Attributes {
        let fs = MemoryFileSystem::new();
        let mut attributes = fs.attributes(&Caller::ROOT, &fs.root()).expect("attributes");
        (attributes.file_system, attributes.changed.nanoseconds) = (1, number);
        attributes.with_changed(attributes.changed)
    }

    fn link(from: u32, to: u32) -> Change {
        Change { before: Some((&at(from)).into()), after: Some(at(to)) }
    }

    fn ends(links: &[(u32, u32)]) -> ChainEnd {
        let mut chain = ChangeChain::default();
        links.iter().for_each(|_| chain.begin(Some(at(1))));
        links.iter().map(|(from, to)| chain.end(&link(*from, *to))).last().expect("a link")
    }

    #[test]
    fn changes_that_link_up_in_any_order_are_all_that_happened() {
        assert_eq!(ends(&[(1, 2)]), ChainEnd::Whole(at(2)));
        for links in [[(1, 2), (2, 3), (3, 4)], [(3, 4), (2, 3), (1, 2)], [(2, 3), (1, 2), (3, 4)]] {
            assert_eq!(ends(&links), ChainEnd::Whole(at(4)), "{links:?}");
        }
        assert_eq!(ends(&[(1, 1)]), ChainEnd::Whole(at(1)), "a refusal that changed nothing");
    }

    #[test]
    fn a_gap_is_the_change_of_somebody_else() {
        assert_eq!(ends(&[(2, 3)]), ChainEnd::Broken);
        assert_eq!(ends(&[(1, 2), (3, 4)]), ChainEnd::Broken);
        assert_eq!(ends(&[(1, 2), (1, 3)]), ChainEnd::Broken);
        let mut chain = ChangeChain::default();
        chain.begin(Some(at(1)));
        assert_eq!(chain.end(&Change::default()), ChainEnd::Broken, "the server said nothing");
        chain.begin(None);
        assert_eq!(chain.end(&link(1, 2)), ChainEnd::Broken, "nobody had seen it");
        chain.begin(Some(at(1)));
        chain.spoil();
        assert_eq!(chain.end(&link(1, 2)), ChainEnd::Broken);
        chain.begin(Some(at(1)));
        chain.begin(Some(at(9)));
        assert_eq!(chain.end(&link(1, 2)), ChainEnd::Open);
        assert_eq!(chain.end(&link(2, 3)), ChainEnd::Whole(at(3)));
    }
}
