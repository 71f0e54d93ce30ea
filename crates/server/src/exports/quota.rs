//! Quotas, by the paths that clients mounted: who may ask for whose, and which file system a path leads to.

use howdah_vfs::{Caller, FileKind, FileSystem, FsError, Handle, Name, Quota, QuotaOwner};

use super::path::parts;
use super::{ClientRule, Export, Exports, Identity, Squash};
use crate::Peer;
use crate::counts::at_export;

/// Why a question for a quota is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaRefusal {
    /// It is none of the caller's.
    NotPermitted,
    /// The file system fails.
    Failed(FsError),
}

impl Exports {
    /// The quota of an owner on the file system that a path of an export leads to; `None`: there is none. Callers may ask for their
    /// own, and a client's root for all. A caller who acts as somebody else here gets the quota of that user.
    pub(crate) fn quota(
        &self,
        path: &[u8],
        peer: &Peer,
        identity: &Identity,
        owner: QuotaOwner,
    ) -> Result<Option<Quota>, QuotaRefusal> {
        let Some((export, named)) = self.find_path(path) else { return Ok(None) };
        at_export(export.place());
        let owner = export.owner_asked(peer, identity, owner).ok_or(QuotaRefusal::NotPermitted)?;
        let file_system = export.whole_file_system();
        let Some(quotas) = file_system.quotas().filter(|_| export.gone().is_none()) else { return Ok(None) };
        let node = deepest(file_system, export.root(), parts(path).skip(named));
        quotas.quota(&node, owner).map_err(QuotaRefusal::Failed)
    }
}

impl Export {
    /// The owner whose quota answers the question for this one. `None`: the caller may not ask. Any source port may ask, since ordinary
    /// users run `quota`.
    fn owner_asked(&self, peer: &Peer, identity: &Identity, owner: QuotaOwner) -> Option<QuotaOwner> {
        let rule = self.rule(peer).filter(|rule| rule.sec.contains(identity.flavor()))?;
        if !self.takes_silently(peer) {
            return None;
        }
        let claimed = identity.claimed()?;
        let acting = identity.under(rule, self.holder(rule, peer));
        match owner {
            QuotaOwner::User(user) if user == claimed.user => Some(QuotaOwner::User(acting.user)),
            QuotaOwner::Group(group) if claimed.is_member(group) => {
                Some(QuotaOwner::Group(if acting.is_member(group) { group } else { acting.group }))
            }
            _ => sees_all(rule, &claimed).then_some(owner),
        }
    }
}

/// Whether a caller is the root of a client that says which users its calls are from. It could call as each of them, so there is nothing
/// to hide from it though it acts as nobody here.
fn sees_all(rule: &ClientRule, claimed: &Caller) -> bool {
    claimed.user == 0 && matches!(rule.squash, Squash::Root | Squash::None)
}

/// The directory that a path leads to, or the last one on the way that exists. Names are looked up as the superuser, as at the mount. The
/// answer does not show whether a name exists.
fn deepest<'p>(file_system: &dyn FileSystem, root: &Handle, parts: impl Iterator<Item = &'p [u8]>) -> Handle {
    let mut node = *root;
    for part in parts {
        let Ok(name) = Name::parse(part) else { break };
        match file_system.lookup(&Caller::ROOT, &node, name) {
            Ok(found) if found.node.attributes.kind == FileKind::Directory => node = found.node.handle,
            _ => break,
        }
    }
    node
}
