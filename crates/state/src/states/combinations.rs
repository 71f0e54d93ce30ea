//! Which access and deny modes an owner's OPENs of a file asked for.

use crate::ids::{ShareAccess, ShareDeny};

/// The set of access and deny modes that the OPENs of one owner asked for: a bit for each of the 16 pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Combinations(u16);

impl Combinations {
    /// One more OPEN.
    pub fn add(&mut self, access: ShareAccess, deny: ShareDeny) {
        self.0 |= 1 << (access.bits() * 4 + deny.bits());
    }

    /// What they come to together.
    pub fn union(self) -> (ShareAccess, ShareDeny) {
        let none = (ShareAccess::NONE, ShareDeny::NONE);
        self.pairs().fold(none, |(access, deny), (other, denied)| (access.with(other), deny.with(denied)))
    }

    /// Those that lie within this pair, if they come to just that: what OPEN_DOWNGRADE may leave (RFC 8881 18.18.3).
    pub fn within(self, access: ShareAccess, deny: ShareDeny) -> Option<Self> {
        let mut within = Self::default();
        let pairs = self.pairs().filter(|(other, denied)| access.allows(*other) && deny.covers(*denied));
        pairs.for_each(|(other, denied)| within.add(other, denied));
        (within.union() == (access, deny) && within.0 != 0).then_some(within)
    }

    fn pairs(self) -> impl Iterator<Item = (ShareAccess, ShareDeny)> {
        let pair = |bit: u32| Some((ShareAccess::from_bits(bit / 4)?, ShareDeny::from_bits(bit % 4)?));
        (0..16).filter(move |bit| self.0 & (1 << bit) != 0).filter_map(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_downgrade_leaves_what_some_opens_asked_for() {
        let mut set = Combinations::default();
        set.add(ShareAccess::READ, ShareDeny::NONE);
        set.add(ShareAccess::WRITE, ShareDeny::READ);
        assert_eq!(set.union(), (ShareAccess::BOTH, ShareDeny::READ));
        assert_eq!(set.within(ShareAccess::BOTH, ShareDeny::READ), Some(set));
        assert_eq!(set.within(ShareAccess::BOTH, ShareDeny::NONE), None, "nobody opened for writing so");
        assert_eq!(set.within(ShareAccess::WRITE, ShareDeny::NONE), None);
        assert_eq!(set.within(ShareAccess::READ, ShareDeny::READ), None);
        let read = set.within(ShareAccess::READ, ShareDeny::NONE).expect("it was opened so");
        assert_eq!(read.union(), (ShareAccess::READ, ShareDeny::NONE));
        assert_eq!(read.within(ShareAccess::WRITE, ShareDeny::READ), None, "it is gone");
    }
}
