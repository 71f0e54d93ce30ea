//! All exports together: found by the id in a handle, or by the path that a client mounts.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use howdah_vfs::Handle;
use howdah_wire::nfs3::FileHandle;
use howdah_wire::rpc::{AuthStatus, Credentials};

use super::{
    Export, Identity, KerberosPrincipal, KnownUser, PrincipalMap, PrincipalSettings, SecurityFlavor,
    SecurityFlavors, TlsPolicy, UserGroups, UserNames,
};
use crate::Peer;
use crate::handle::{HandleKey, SealedHandle};

/// All exports.
pub struct Exports {
    /// In the order of their ids.
    list: Vec<Export>,
    key: HandleKey,
    /// What names this server.
    identity: [u8; 16],
    groups: Option<Arc<UserGroups>>,
    principals: Option<Principals>,
    /// Some do not take every call with AUTH_SYS, or not however it is protected.
    judges_security: bool,
}

/// Which principals are which users, and where those are looked up.
struct Principals {
    map: PrincipalMap,
    users: Arc<UserGroups>,
}

/// Exports that cannot stand beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExportsError {
    /// Two exports have one id, so a handle would not tell which it is of.
    SameId {
        /// The id.
        id: u32,
        /// The names of the two.
        names: [String; 2],
    },
    /// Two exports have one name.
    SameName(String),
}

impl Exports {
    /// These exports. `key` is secret, and stays the same over restarts, or clients lose their handles.
    pub fn new(mut list: Vec<Export>, key: [u8; 16]) -> Result<Self, ExportsError> {
        list.sort_by_key(Export::id);
        for (position, export) in list.iter().enumerate() {
            if let Some(next) = list.get(position + 1).filter(|next| next.id() == export.id()) {
                let names = [export, next].map(|export| export.name().to_owned());
                return Err(ExportsError::SameId { id: export.id(), names });
            }
            if list[..position].iter().any(|other| other.name() == export.name()) {
                return Err(ExportsError::SameName(export.name().to_owned()));
            }
        }
        let takes_any = |export: &Export| {
            let mut rules = export.rules().iter();
            export.tls() == TlsPolicy::Offered && rules.all(|rule| rule.sec == SecurityFlavors::SYS)
        };
        let judges_security = !list.iter().all(takes_any);
        let key = HandleKey::new(key);
        Ok(Self { list, identity: key.identity(), key, groups: None, principals: None, judges_security })
    }

    /// The same of a server that others share the key of handles with: what names it is made of a secret of its own.
    #[must_use]
    pub fn with_own_secret(self, secret: [u8; 16]) -> Self {
        Self { identity: HandleKey::new(secret).identity(), ..self }
    }

    /// The key of handles.
    pub(crate) fn key(&self) -> &HandleKey {
        &self.key
    }

    /// The same with callers in the groups that this host knows them in, in place of those that they send.
    #[must_use]
    pub fn with_groups(self, groups: Option<Arc<UserGroups>>) -> Self {
        Self { groups, ..self }
    }

    /// The same, where principals of Kerberos are users as the map has it, whom this host knows.
    #[must_use]
    pub fn with_principals(self, map: PrincipalMap, users: Arc<UserGroups>) -> Self {
        Self { principals: Some(Principals { map, users }), ..self }
    }

    /// How principals are mapped: as their realms have it, unless the configuration says more.
    pub(crate) fn map_of_principals(&self) -> PrincipalMap {
        self.principals().cloned().unwrap_or_else(|| PrincipalMap::new(PrincipalSettings::default()))
    }

    /// Which principals are which users, if any may call.
    pub(crate) fn principals(&self) -> Option<&PrincipalMap> {
        self.principals.as_ref().map(|principals| &principals.map)
    }

    /// Whether the name of a client must be looked up, which may wait.
    pub(crate) fn must_ask_name(&self, client: IpAddr) -> bool {
        self.list.iter().find_map(Export::host_names).is_some_and(|hosts| hosts.must_ask(client))
    }

    /// Whether the user that a principal is must be looked up, which may wait.
    pub(crate) fn must_look_up(&self, principal: &KerberosPrincipal, now: Instant) -> bool {
        self.principals.as_ref().is_some_and(|Principals { map, users }| {
            principal.known_user(map, now).is_none()
                && principal.kind_by(map).user().is_some_and(|names| users.must_ask_user(names, now))
        })
    }

    /// The user or group that a client names as an owner, such as `alice@example.org`. Nobody: there is none, or names of owners are
    /// not taken in that domain. May wait for the user database.
    pub(crate) fn owner(&self, name: &str, is_group: bool, caller: &Identity) -> KnownUser {
        let (Some(Principals { map, users }), Some((short, domain))) =
            (&self.principals, name.rsplit_once('@'))
        else {
            return KnownUser::Nobody;
        };
        let caller = match caller {
            Identity::Principal(principal) => Some(&*principal.name),
            Identity::Unknown | Identity::User(_) => None,
        };
        if short.is_empty() || !map.has_domain(domain, caller) {
            return KnownUser::Nobody;
        }
        let now = Instant::now();
        if is_group {
            return users.group(short, now);
        }
        users.user(&UserNames { full: name.into(), short: Some(short.into()) }, now).0
    }

    /// Where the groups of callers are looked up, if they are.
    pub(crate) fn groups(&self) -> Option<&UserGroups> {
        self.groups.as_deref()
    }

    /// Who a call is from; flavors we do not take are refused. `principal`: whose context a call of RPCSEC_GSS came by. May wait for
    /// the user database.
    pub(crate) fn identify(
        &self,
        credentials: &Credentials<'_>,
        principal: Option<&KerberosPrincipal>,
    ) -> Result<Identity, AuthStatus> {
        let user_of = |principal: &KerberosPrincipal| match &self.principals {
            Some(Principals { map, users }) => principal.user_by(map, users, Instant::now()),
            None => KnownUser::Nobody,
        };
        let mut identity = Identity::of(credentials, principal, user_of)?;
        if let (Some(groups), Identity::User(caller)) = (&self.groups, &mut identity)
            && let Some(known) = groups.of(caller.user, Instant::now())
        {
            caller.groups = known;
        }
        Ok(identity)
    }

    /// Whether some exports may refuse a call of this flavor for how it is protected.
    pub(crate) fn judge_security(&self, flavor: SecurityFlavor) -> bool {
        self.judges_security || flavor.is_kerberos()
    }

    /// Whether the export of this node takes calls of this peer and flavor; of a handle that leads nowhere, something else tells.
    /// `of_root`: calls about the root of an export are taken with AUTH_SYS where Kerberos is, too.
    pub(crate) fn take(
        &self,
        handle: FileHandle<'_>,
        peer: &Peer,
        flavor: SecurityFlavor,
        of_root: bool,
    ) -> bool {
        let Some((id, node)) = self.open(handle) else { return true };
        self.find(id).is_none_or(|export| {
            let takes_flavor = || {
                let takes = export.takes_flavor(peer, flavor) || of_root && export.is_open_at(&node, flavor);
                if !takes {
                    export.log_flavor(peer, flavor);
                }
                takes
            };
            export.takes(peer) && takes_flavor()
        })
    }

    /// Whether any export takes calls of this peer. Nothing is kept for others.
    pub(crate) fn admit_somewhere(&self, peer: &Peer, identity: &Identity) -> bool {
        let admits = |export: &&Export| export.knows(peer, identity);
        if self.list.iter().filter(admits).any(|export| export.takes_silently(peer)) {
            return true;
        }
        // The export that would, if its calls were protected, says in the log what to do.
        self.list.iter().find(admits).is_some_and(|export| export.takes(peer))
    }

    /// The exports, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &Export> {
        self.list.iter()
    }

    /// The export of this id.
    pub fn find(&self, id: u32) -> Option<&Export> {
        self.list.binary_search_by_key(&id, Export::id).ok().map(|position| &self.list[position])
    }

    /// The export of a node; `None` if its handle leads nowhere.
    pub(crate) fn of(&self, handle: FileHandle<'_>) -> Option<&Export> {
        let (id, _) = self.open(handle)?;
        self.find(id)
    }

    /// What clients get for a handle of this export.
    pub fn seal(&self, export: &Export, handle: &Handle) -> SealedHandle {
        self.key.seal(export.id(), handle)
    }

    /// What names this server to clients that ask whether two addresses are of one: the same on all its addresses and over
    /// restarts, and another for every server that keeps its own secret.
    pub fn identity(&self) -> [u8; 16] {
        self.identity
    }

    /// What clients get for a handle that is of no export, with this id in the place of one.
    pub fn seal_as(&self, id: u32, handle: &Handle) -> SealedHandle {
        self.key.seal(id, handle)
    }

    /// The export's id and the file system's handle in what a client sent; `None` if we never gave it out.
    pub fn open(&self, handle: FileHandle<'_>) -> Option<(u32, Handle)> {
        self.key.open(handle.0)
    }
}

impl Default for Exports {
    /// No export.
    fn default() -> Self {
        let key = HandleKey::new([0; 16]);
        Self {
            list: Vec::new(),
            identity: key.identity(),
            key,
            groups: None,
            principals: None,
            judges_security: false,
        }
    }
}

impl fmt::Display for ExportsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameId { id, names: [one, other] } => {
                write!(
                    formatter,
                    "the exports {one} and {other} have the same id {id}; give one of them another"
                )
            }
            Self::SameName(name) => write!(formatter, "two exports are named {name}"),
        }
    }
}

impl std::error::Error for ExportsError {}
