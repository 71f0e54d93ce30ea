//! Who has a file open, for what, and what that keeps others from.

use std::collections::BTreeMap;

use crate::ids::{ClientId, HostId, NlmOwner, OpenId, ShareAccess, ShareDeny};

/// Who has a file open: an open of NFSv4, or a share of NLM.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShareHolder {
    /// An open.
    Open(OpenId),
    /// A share.
    Nlm(NlmOwner),
}

/// What an open may do, and what it keeps others from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareMode {
    /// What it may do.
    pub access: ShareAccess,
    /// What it keeps others from.
    pub deny: ShareDeny,
}

impl ShareMode {
    /// Whether it keeps others from having delegations.
    pub fn excludes_delegations(self) -> bool {
        self.access.allows(ShareAccess::WRITE) || self.deny.denies(ShareAccess::READ)
    }

    /// Whether it keeps others from anything.
    pub fn denies(self) -> bool {
        self.deny != ShareDeny::NONE
    }

    fn conflicts(self, other: Self) -> bool {
        self.deny.denies(other.access) || other.deny.denies(self.access)
    }
}

impl ShareHolder {
    /// The client of NFSv4 that it belongs to.
    pub fn client(&self) -> Option<ClientId> {
        match self {
            Self::Open(open) => Some(open.client),
            Self::Nlm(_) => None,
        }
    }
}

/// The opens and shares of one file.
#[derive(Debug, Default)]
pub struct FileShares {
    held: BTreeMap<ShareHolder, ShareMode>,
    /// How many of them deny anything: usually none, and then nobody need look.
    denying: usize,
}

impl FileShares {
    /// What all holders have.
    pub fn modes(&self) -> impl Iterator<Item = ShareMode> {
        self.held.values().copied()
    }

    /// Sets what a holder has. What it had before.
    pub fn set(&mut self, holder: &ShareHolder, mode: Option<ShareMode>) -> Option<ShareMode> {
        let before = match mode {
            Some(mode) => self.held.insert(holder.clone(), mode),
            None => self.held.remove(holder),
        };
        let denies = |mode: Option<ShareMode>| usize::from(mode.is_some_and(ShareMode::denies));
        self.denying = self.denying + denies(mode) - denies(before);
        before
    }

    /// Other holders in whose way this would be.
    pub fn conflicts<'s>(
        &'s self,
        holder: &'s ShareHolder,
        mode: ShareMode,
    ) -> impl Iterator<Item = &'s ShareHolder> {
        let is_needless = self.denying == 0 && mode.deny == ShareDeny::NONE;
        let held = if is_needless { None } else { Some(&self.held) };
        let others = held.into_iter().flatten().filter(move |(other, _)| *other != holder);
        others.filter(move |(_, other)| other.conflicts(mode)).map(|(other, _)| other)
    }

    /// Holders that keep I/O without an open from this access.
    pub fn denying(&self, access: ShareAccess) -> impl Iterator<Item = &ShareHolder> {
        let held = if self.denying == 0 { None } else { Some(&self.held) };
        let denying = held.into_iter().flatten().filter(move |(_, mode)| mode.deny.denies(access));
        denying.map(|(holder, _)| holder)
    }

    /// Shares of a host.
    pub fn of_host(&self, host: HostId) -> impl Iterator<Item = &NlmOwner> {
        let first = ShareHolder::Nlm(NlmOwner { host, svid: 0, oh: [].into() });
        self.held.range(first..).map_while(move |(holder, _)| match holder {
            ShareHolder::Nlm(owner) if owner.host == host => Some(owner),
            _ => None,
        })
    }

    /// Whether nobody has the file open.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}
