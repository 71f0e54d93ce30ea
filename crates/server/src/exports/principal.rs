//! From the names that Kerberos proves to users of this host: by a table, by realms, by the user database. It looks nobody up.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::groups::{KnownUser, UserGroups, UserNames};
use crate::locks::Mutex;

/// What the configuration says of principals.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrincipalSettings {
    /// Users by the principals that are them, each with its realm.
    pub table: HashMap<String, String>,
    /// Realms whose users are users here, the one first whose names stand alone in the user database. Empty: the realm of the key
    /// by which the server accepted a caller.
    pub realms: Vec<String>,
    /// The domain behind the names of owners that clients set; `None`: the first of the realms in small letters, or the caller's.
    pub id_domain: Option<String>,
}

/// Which principal is which user. Copies share what they know.
#[derive(Debug, Clone)]
pub struct PrincipalMap {
    settings: Arc<PrincipalSettings>,
}

/// A principal as Kerberos names callers; the types of this name in wire and state are what NFS and its state call one.
#[derive(Debug)]
pub struct KerberosPrincipal {
    name: Arc<str>,
    /// The realm of the key by which it was accepted.
    accepted_by: Arc<str>,
    kind: PrincipalKind,
    mapped_by: PrincipalMap,
    /// Its user by this map until then: a call finds it here, and needs no lock that calls of others take.
    last_user: Mutex<Option<(PrincipalMap, KnownUser, Instant)>>,
}

/// What a principal is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrincipalKind {
    /// The user that the table names.
    Listed(UserNames),
    /// The user that the user database has by one of these names, unless it is root.
    User(UserNames),
    /// A machine or a service: it may make sessions, and reaches files as the anonymous user.
    Machine,
    /// Somebody of a realm that is not one of ours: the anonymous user.
    ForeignRealm,
    /// Its name is not one that a user can have: the anonymous user.
    Unusable,
}

impl PrincipalMap {
    /// As the configuration has it.
    pub fn new(settings: PrincipalSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }

    /// What a principal is, such as `alice@EXAMPLE.ORG`, which the server accepted by a key of that realm. Bytes are compared
    /// as they are.
    pub fn map(&self, name: &str, accepted_by: &str) -> KerberosPrincipal {
        KerberosPrincipal {
            name: name.into(),
            accepted_by: accepted_by.into(),
            kind: self.kind(name, accepted_by),
            mapped_by: self.clone(),
            last_user: Mutex::default(),
        }
    }

    /// Whether names of owners in this domain are names of users here. `caller`: the principal that sets one. Domains are compared as
    /// DNS does.
    pub(super) fn has_domain(&self, domain: &str, caller: Option<&str>) -> bool {
        let PrincipalSettings { realms, id_domain, .. } = &*self.settings;
        let of_caller = || caller?.rsplit_once('@').map(|(_, realm)| realm);
        let own = id_domain.as_deref().or(realms.first().map(String::as_str)).or_else(of_caller);
        own.is_some_and(|own| own.eq_ignore_ascii_case(domain))
    }

    fn kind(&self, name: &str, accepted_by: &str) -> PrincipalKind {
        if let Some(user) = self.settings.table.get(name) {
            return PrincipalKind::Listed(UserNames::one(user));
        }
        let Some((local, realm)) = parts(name) else { return PrincipalKind::Unusable };
        let realms = &self.settings.realms;
        if !(realms.iter().any(|own| own == realm) || realms.is_empty() && realm == accepted_by) {
            return PrincipalKind::ForeignRealm;
        }
        if local.contains('/') || local.ends_with('$') {
            return PrincipalKind::Machine;
        }
        let is_default = realms.first().map_or(accepted_by, String::as_str) == realm;
        PrincipalKind::User(UserNames { full: name.into(), short: is_default.then(|| local.into()) })
    }
}

/// The part before the realm, and the realm. `None`: parts are missing, or it has what is quoted in names, which no user has.
fn parts(name: &str) -> Option<(&str, &str)> {
    let is_quoted = |char: char| char == '\\' || char == ':' || char.is_whitespace() || char.is_control();
    let (local, realm) = name.split_once('@')?;
    let is_good = !name.contains(is_quoted) && !realm.is_empty() && !realm.contains('@');
    (is_good && local.split('/').all(|part| !part.is_empty())).then_some((local, realm))
}

impl KerberosPrincipal {
    /// Its name, with its realm.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What it is here.
    pub fn kind(&self) -> &PrincipalKind {
        &self.kind
    }

    /// The user that it is by this map, if an earlier call found it and it need not be looked up again yet.
    pub(super) fn known_user(&self, map: &PrincipalMap, now: Instant) -> Option<KnownUser> {
        let last = self.last_user.lock();
        let (by, user, until) = last.as_ref()?;
        (Arc::ptr_eq(&by.settings, &map.settings) && now < *until).then(|| user.clone())
    }

    /// The user that it is by this map. Nobody is root by a name, unless a line of the table says so.
    pub(super) fn user_by(&self, map: &PrincipalMap, users: &UserGroups, now: Instant) -> KnownUser {
        if let Some(known) = self.known_user(map, now) {
            return known;
        }
        let kind = self.kind_by(map);
        let Some(names) = kind.user() else { return KnownUser::Nobody };
        let (mut user, until) = users.user(names, now);
        if !kind.may_be_root() && matches!(&user, KnownUser::Account(account) if account.user == 0) {
            user = KnownUser::Nobody;
        }
        *self.last_user.lock() = Some((map.clone(), user.clone(), until));
        user
    }

    /// What it is by this map: it may have been mapped before a reload.
    pub(super) fn kind_by(&self, map: &PrincipalMap) -> Cow<'_, PrincipalKind> {
        if Arc::ptr_eq(&self.mapped_by.settings, &map.settings) {
            return Cow::Borrowed(&self.kind);
        }
        Cow::Owned(map.kind(&self.name, &self.accepted_by))
    }
}

impl PrincipalKind {
    /// The names that it has in the user database, if any.
    pub fn user(&self) -> Option<&UserNames> {
        match self {
            Self::Listed(names) | Self::User(names) => Some(names),
            Self::Machine | Self::ForeignRealm | Self::Unusable => None,
        }
    }

    /// Whether it may be root: only a line of the table that says `root` makes somebody root.
    pub(super) fn may_be_root(&self) -> bool {
        matches!(self, Self::Listed(names) if &*names.full == "root")
    }
}

impl fmt::Display for PrincipalKind {
    /// By which rule, for the log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(names) => write!(formatter, "user {} by the table of principals", names.full),
            Self::User(UserNames { full, short: Some(short) }) => {
                write!(formatter, "the user named {full} or {short}")
            }
            Self::User(UserNames { full, short: None }) => write!(formatter, "the user named {full}"),
            Self::Machine => formatter.write_str("a machine or service, anonymous for files"),
            Self::ForeignRealm => formatter.write_str("anonymous: its realm is not in realms"),
            Self::Unusable => formatter.write_str("anonymous: no user can have such a name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use howdah_vfs::GroupList;

    use super::*;
    use crate::exports::{GroupSource, UserAccount};
    use crate::limits::GROUPS_AGE;

    fn map(table: &[(&str, &str)], realms: &[&str]) -> PrincipalMap {
        let table = table.iter().map(|(principal, user)| ((*principal).to_owned(), (*user).to_owned()));
        let realms = realms.iter().map(|realm| (*realm).to_owned());
        PrincipalMap::new(PrincipalSettings {
            table: table.collect(),
            realms: realms.collect(),
            id_domain: None,
        })
    }

    fn user(full: &str, short: Option<&str>) -> PrincipalKind {
        PrincipalKind::User(UserNames { full: full.into(), short: short.map(Into::into) })
    }

    fn listed(user: &str) -> PrincipalKind {
        PrincipalKind::Listed(UserNames::one(user))
    }

    #[test]
    fn the_table_comes_first_and_is_compared_byte_by_byte() {
        let map = map(&[("host/build1@R", "root"), ("bob@ELSEWHERE", "robert"), ("x\\@y@R", "xy")], &[]);
        for (name, kind) in [
            ("host/build1@R", listed("root")),
            ("host/build2@R", PrincipalKind::Machine),
            ("Host/build1@R", PrincipalKind::Machine),
            ("host/build1@r", PrincipalKind::ForeignRealm),
            ("bob@ELSEWHERE", listed("robert")),
            ("x\\@y@R", listed("xy")),
        ] {
            assert_eq!(*map.map(name, "R").kind(), kind, "{name}");
        }
    }

    #[test]
    fn users_of_other_realms_are_strangers() {
        for (realms, name, kind) in [
            (&[][..], "alice@R", user("alice@R", Some("alice"))),
            (&[], "alice@r", PrincipalKind::ForeignRealm),
            (&[], "alice@OTHER", PrincipalKind::ForeignRealm),
            (&["R", "OTHER"], "alice@R", user("alice@R", Some("alice"))),
            // Alice of another realm is another person, though her realm is taken.
            (&["R", "OTHER"], "alice@OTHER", user("alice@OTHER", None)),
            (&["OTHER"], "alice@OTHER", user("alice@OTHER", Some("alice"))),
            // The realm of the key says nothing where realms are listed.
            (&["OTHER"], "alice@R", PrincipalKind::ForeignRealm),
        ] {
            assert_eq!(*map(&[], realms).map(name, "R").kind(), kind, "{name} with {realms:?}");
        }
    }

    #[test]
    fn names_of_two_parts_and_of_computers_are_machines() {
        for name in ["host/a.example@R", "nfs/a@R", "root/a@R", "alice/admin@R", "a/b/c@R", "PC1$@R", "$@R"] {
            let kind = map(&[], &[]).map(name, "R").kind().clone();
            assert_eq!((kind.user(), &kind), (None, &PrincipalKind::Machine), "{name}");
        }
    }

    #[test]
    fn names_that_no_user_has_are_nobody() {
        for name in [
            "", "@", "alice", "alice@", "@R", "/@R", "a/@R", "/a@R", "a\\@b@R", "a@b@R", "a b@R", "a\0b@R",
            "a:b@R",
        ] {
            let kind = map(&[], &["R", "b@R"]).map(name, "R").kind().clone();
            assert_eq!(kind, PrincipalKind::Unusable, "{name}");
        }
    }

    #[test]
    fn only_a_line_of_the_table_makes_somebody_root() {
        let map = map(&[("host/a@R", "root"), ("toor@R", "toor")], &[]);
        for (name, may) in [
            ("host/a@R", true),
            ("toor@R", false),
            ("root@R", false),
            ("root/a@R", false),
            ("host/b@R", false),
        ] {
            assert_eq!(map.map(name, "R").kind().may_be_root(), may, "{name}");
        }
    }

    #[test]
    fn names_of_owners_are_of_one_domain() {
        let with_domain = |domain: &str| {
            let id_domain = Some(domain.to_owned());
            PrincipalMap::new(PrincipalSettings { id_domain, ..PrincipalSettings::default() })
        };
        for (map, domain, caller, has) in [
            (map(&[], &["A.ORG", "B.ORG"]), "a.org", None, true),
            (map(&[], &["A.ORG", "B.ORG"]), "b.org", Some("x@B.ORG"), false),
            (map(&[], &[]), "a.org", Some("x@A.ORG"), true),
            (map(&[], &[]), "a.org", None, false),
            (with_domain("corp.test"), "Corp.Test", Some("x@A.ORG"), true),
            (with_domain("corp.test"), "a.org", Some("x@A.ORG"), false),
        ] {
            assert_eq!(map.has_domain(domain, caller), has, "{domain} for {caller:?}");
        }
    }

    #[test]
    fn a_principal_is_mapped_again_after_a_reload() {
        let (old, new) = (map(&[], &[]), map(&[("alice@R", "bob")], &[]));
        let alice = old.map("alice@R", "R");
        assert_eq!(*alice.kind_by(&old.clone()), user("alice@R", Some("alice")));
        assert_eq!(*alice.kind_by(&new), listed("bob"));
    }

    #[test]
    fn a_user_is_looked_up_again_when_its_answer_is_old_and_after_a_reload() {
        /// There are root and alice.
        struct Two;
        impl GroupSource for Two {
            fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
                Ok(None)
            }
            fn user(&self, name: &str) -> io::Result<Option<UserAccount>> {
                let id = ["root", "alice"].iter().position(|known| *known == name);
                let account = |id| UserAccount { user: id as u32, group: 9, groups: GroupList::default() };
                Ok(id.map(account))
            }
        }
        let (users, now) = (UserGroups::new(Two), Instant::now());
        let (old, new) = (map(&[], &[]), map(&[("alice@R", "root"), ("root@R", "root")], &[]));
        let account =
            |id| KnownUser::Account(UserAccount { user: id, group: 9, groups: GroupList::default() });
        for (name, first, second) in [
            ("alice@R", account(1), account(0)),
            ("root@R", KnownUser::Nobody, account(0)),
            ("bob@R", KnownUser::Nobody, KnownUser::Nobody),
        ] {
            let principal = old.map(name, "R");
            assert_eq!(principal.known_user(&old, now), None, "{name}: nobody has looked");
            assert_eq!(principal.user_by(&old, &users, now), first, "{name}");
            assert_eq!(principal.known_user(&old, now), Some(first), "{name}");
            assert_eq!(principal.known_user(&old, now + GROUPS_AGE), None, "{name}: the answer is old");
            assert_eq!(principal.known_user(&new, now), None, "{name}: after a reload");
            assert_eq!(principal.user_by(&new, &users, now), second, "{name} after a reload");
            assert_eq!(principal.known_user(&new, now), Some(second), "{name} after a reload");
        }
    }
}
