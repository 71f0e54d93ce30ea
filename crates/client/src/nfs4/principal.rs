//! Users and groups as NFSv4 names them: numbers in decimal, or names with a domain (RFC 8881 5.9).

use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use howdah_wire::nfs4::attributes::Principal;
use parking_lot::Mutex;

/// The number for a name that this host does not know.
pub(super) const NOBODY: u32 = 65_534;
/// So long the database's answer counts.
const AGE_MAX: Duration = Duration::from_secs(600);
/// So many names are remembered.
const NAMES_MAX: usize = 4096;

/// The number of a name, if it has one, and when that was asked.
type Remembered = (Option<u32>, Instant);

/// The users and groups that this host knows by name.
pub trait NameDatabase: Send + Sync {
    /// The number of a user.
    fn user(&self, name: &str) -> Option<u32>;

    /// The number of a group.
    fn group(&self, name: &str) -> Option<u32>;
}

static DATABASE: OnceLock<Box<dyn NameDatabase>> = OnceLock::new();

/// Owners that servers name are looked up in this database from now on. The first one counts.
pub fn use_names_of(database: Box<dyn NameDatabase>) {
    let _ = DATABASE.set(database);
}

/// A user or group by its number in decimal.
pub(super) struct Decimal(String);

impl Decimal {
    /// Of a number.
    pub(super) fn of(number: u32) -> Self {
        Self(number.to_string())
    }

    /// As it goes into a message.
    pub(super) fn as_wire(&self) -> Principal<'_> {
        Principal(self.0.as_bytes())
    }
}

/// What a name is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NameKind {
    User,
    Group,
}

/// The number that a name stands for: digits, with a domain or without, the superuser's names, and with a domain those that this host
/// knows. Servers send such where Kerberos is used.
pub(super) fn id(name: Principal<'_>, kind: NameKind) -> u32 {
    let text = std::str::from_utf8(name.0).unwrap_or_default();
    match text.split_once('@') {
        None if text == "root" || text == "wheel" => 0,
        None => text.parse().unwrap_or(NOBODY),
        Some(("root" | "wheel", _)) => 0,
        Some((name, _)) => name.parse().ok().or_else(|| known(name, kind)).unwrap_or(NOBODY),
    }
}

/// By the database of this host, which may be asked over the network: what it said is remembered.
fn known(name: &str, kind: NameKind) -> Option<u32> {
    static KNOWN: Mutex<Option<HashMap<(NameKind, String), Remembered>>> = Mutex::new(None);
    let database = DATABASE.get()?;
    let key = (kind, name.to_owned());
    let remembered = KNOWN.lock().as_ref().and_then(|known| known.get(&key).copied());
    if let Some((number, asked)) = remembered
        && asked.elapsed() < AGE_MAX
    {
        return number;
    }
    let number = match kind {
        NameKind::User => database.user(name),
        NameKind::Group => database.group(name),
    };
    let mut known = KNOWN.lock();
    let known = known.get_or_insert_default();
    if known.len() >= NAMES_MAX {
        known.clear();
    }
    known.insert(key, (number, Instant::now()));
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers() {
        for (name, number) in [
            ("0", 0),
            ("1000", 1000),
            ("1000@example.org", 1000),
            ("root@localdomain", 0),
            ("nobody", NOBODY),
            ("", NOBODY),
            ("4294967296", NOBODY),
        ] {
            assert_eq!(id(Principal(name.as_bytes()), NameKind::User), number, "{name}");
        }
    }

    struct Alice;

    impl NameDatabase for Alice {
        fn user(&self, name: &str) -> Option<u32> {
            (name == "alice").then_some(1234)
        }

        fn group(&self, name: &str) -> Option<u32> {
            (name == "alice").then_some(2000)
        }
    }

    #[test]
    fn names_with_a_domain_are_looked_up() {
        use_names_of(Box::new(Alice));
        let number = |name: &str, kind| id(Principal(name.as_bytes()), kind);
        for _ in 0..2 {
            assert_eq!(number("alice@example.org", NameKind::User), 1234);
            assert_eq!(number("alice@example.org", NameKind::Group), 2000);
            assert_eq!(number("mallory@example.org", NameKind::User), NOBODY);
        }
        assert_eq!(number("alice", NameKind::User), NOBODY);
    }
}
