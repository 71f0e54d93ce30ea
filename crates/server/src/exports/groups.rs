//! Users as this host knows them: their groups, for callers in more than AUTH_SYS carries, and those that certificates name.
//! What was answered is remembered for a while. It does not know where the answers come from.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use howdah_vfs::GroupList;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::limits::{GROUP_LISTS_MAX, GROUPS_AGE, GROUPS_OF_ONE_MAX, GROUPS_RETRY, USER_RETRY};

/// Who knows the groups of users. Asking may take as long as another host takes to answer.
pub trait GroupSource: Send + Sync {
    /// All groups of a user, by its id; `None`: there is no such user.
    ///
    /// # Errors
    /// It cannot be found out now.
    fn groups(&self, user: u32) -> io::Result<Option<Vec<u32>>>;

    /// The user that a certificate names, as in `user@domain`; `None`: there is no such user.
    ///
    /// # Errors
    /// It cannot be found out now.
    fn account(&self, name: &str) -> io::Result<Option<UserAccount>> {
        let _ = name;
        Ok(None)
    }

    /// The user of exactly this name, which may have an `@` in it; `None`: there is no such user.
    ///
    /// # Errors
    /// It cannot be found out now.
    fn user(&self, name: &str) -> io::Result<Option<UserAccount>> {
        let _ = name;
        Ok(None)
    }

    /// The id of the group of exactly this name; `None`: there is no such group.
    ///
    /// # Errors
    /// It cannot be found out now.
    fn group(&self, name: &str) -> io::Result<Option<u32>> {
        let _ = name;
        Ok(None)
    }
}

/// The names that a user may have in the user database.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UserNames {
    /// The one that is asked for first.
    pub full: Arc<str>,
    /// The one that is asked for if there is no user of the first.
    pub short: Option<Arc<str>>,
}

impl UserNames {
    /// No other than this.
    pub fn one(name: &str) -> Self {
        Self { full: name.into(), short: None }
    }
}

/// What is known of a user who is asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnownUser {
    /// This account.
    Account(UserAccount),
    /// There is no such user.
    Nobody,
    /// The user database gives no answer, and gave none before.
    Unavailable,
}

/// A user of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserAccount {
    /// Its user id.
    pub user: u32,
    /// Its own group.
    pub group: u32,
    /// All its groups.
    pub groups: GroupList,
}

/// Which user is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Asked {
    /// Its groups, by its id.
    Id(u32),
    /// All of it, by its name in a certificate.
    Name(Arc<str>),
    /// All of it, by its own name.
    User(UserNames),
    /// No user, but a group, by its name.
    Group(Arc<str>),
}

/// The groups of users, each asked for once in a while.
pub struct UserGroups {
    source: Box<dyn GroupSource>,
    known: Mutex<HashMap<Asked, Known>>,
    answered: Condvar,
    /// Whether the last question failed: that is logged once.
    fails: AtomicBool,
}

/// What is known of one user.
struct Known {
    answer: KnownUser,
    /// When to ask again.
    until: Instant,
    /// Whether somebody asks now.
    is_asked: bool,
}

/// Somebody asks for this user's groups; others wait for the answer.
struct Asking<'g> {
    of: &'g UserGroups,
    user: Asked,
}

impl UserGroups {
    /// As this source knows them.
    pub fn new(source: impl GroupSource + 'static) -> Self {
        Self {
            source: Box::new(source),
            known: Mutex::default(),
            answered: Condvar::new(),
            fails: AtomicBool::new(false),
        }
    }

    /// Whether [`Self::of`] would have to ask, and so may wait.
    pub(crate) fn must_ask(&self, user: u32, now: Instant) -> bool {
        self.must_look_up(&Asked::Id(user), now)
    }

    /// The same of [`Self::user`].
    pub(crate) fn must_ask_user(&self, names: &UserNames, now: Instant) -> bool {
        self.must_look_up(&Asked::User(names.clone()), now)
    }

    /// The same of [`Self::named`].
    pub(crate) fn must_ask_name(&self, name: &Arc<str>, now: Instant) -> bool {
        self.must_look_up(&Asked::Name(Arc::clone(name)), now)
    }

    fn must_look_up(&self, user: &Asked, now: Instant) -> bool {
        self.known.lock().get(user).is_none_or(|known| known.is_asked || known.until <= now)
    }

    /// The groups of a user. `None`: this host does not know the user, or could not ask and knew nothing before.
    pub(crate) fn of(&self, user: u32, now: Instant) -> Option<GroupList> {
        self.look_up(Asked::Id(user), now).account().map(|account| account.groups)
    }

    /// The user that a certificate names. `None`: this host does not know it, or could not ask and knew nothing before.
    pub(crate) fn named(&self, name: &Arc<str>, now: Instant) -> Option<UserAccount> {
        self.look_up(Asked::Name(Arc::clone(name)), now).account()
    }

    /// The user of one of these names.
    pub(crate) fn user(&self, names: &UserNames, now: Instant) -> KnownUser {
        self.look_up(Asked::User(names.clone()), now)
    }

    /// A group by its name, as an account whose group it is.
    pub(crate) fn group(&self, name: &str, now: Instant) -> KnownUser {
        self.look_up(Asked::Group(name.into()), now)
    }

    fn look_up(&self, user: Asked, now: Instant) -> KnownUser {
        let mut all = self.known.lock();
        loop {
            match all.get(&user) {
                Some(known) if known.is_asked => self.answered.wait(&mut all),
                Some(known) if now < known.until => return known.answer.clone(),
                _ => break,
            }
        }
        make_room(&mut all);
        let fresh = Known { answer: KnownUser::Unavailable, until: now, is_asked: false };
        all.entry(user.clone()).or_insert(fresh).is_asked = true;
        drop(all);
        let asking = Asking { of: self, user };
        let answer = self.ask(&asking.user);
        asking.answer(answer, now)
    }

    fn ask(&self, user: &Asked) -> io::Result<Option<UserAccount>> {
        let cut = |mut groups: Vec<u32>| {
            groups.truncate(GROUPS_OF_ONE_MAX);
            GroupList::new(groups)
        };
        match user {
            Asked::Name(name) => self.source.account(name),
            Asked::Group(name) => {
                let account = |group| UserAccount { user: group, group, groups: GroupList::default() };
                self.source.group(name).map(|group| group.map(account))
            }
            Asked::User(UserNames { full, short }) => match (self.source.user(full)?, short) {
                (None, Some(short)) => self.source.user(short),
                (found, _) => Ok(found),
            },
            Asked::Id(user) => self.source.groups(*user).map(|groups| {
                groups.map(|groups| UserAccount { user: *user, group: *user, groups: cut(groups) })
            }),
        }
    }
}

/// Forgets the answer that is due first, if there is room for no other.
fn make_room(all: &mut MutexGuard<'_, HashMap<Asked, Known>>) {
    if all.len() < GROUP_LISTS_MAX {
        return;
    }
    let idle = all.iter().filter(|(_, known)| !known.is_asked);
    if let Some(user) = idle.min_by_key(|(_, known)| known.until).map(|(user, _)| user.clone()) {
        all.remove(&user);
    }
}

impl KnownUser {
    fn account(self) -> Option<UserAccount> {
        match self {
            Self::Account(account) => Some(account),
            Self::Nobody | Self::Unavailable => None,
        }
    }
}

impl Asking<'_> {
    fn answer(self, answer: io::Result<Option<UserAccount>>, now: Instant) -> KnownUser {
        let mut all = self.of.known.lock();
        let Some(known) = all.get_mut(&self.user) else { return KnownUser::Unavailable };
        let failed = answer.is_err();
        let age = match answer {
            Ok(Some(account)) => {
                known.answer = KnownUser::Account(account);
                GROUPS_AGE
            }
            Ok(None) => {
                known.answer = KnownUser::Nobody;
                GROUPS_RETRY
            }
            // What was known goes on.
            Err(error) => {
                if !self.of.fails.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        user = ?self.user,
                        %error,
                        "cannot look up groups of users; until it works again, earlier answers or the groups that clients send are used"
                    );
                }
                // Calls of a principal wait for the first answer.
                let waits = matches!(self.user, Asked::User(_) | Asked::Group(_))
                    && known.answer == KnownUser::Unavailable;
                if waits { USER_RETRY } else { GROUPS_RETRY }
            }
        };
        if !failed && self.of.fails.swap(false, Ordering::Relaxed) {
            tracing::info!("looking up groups of users works again");
        }
        known.until = now + age;
        known.answer.clone()
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Some(known) = self.of.known.lock().get_mut(&self.user) {
            known.is_asked = false;
        }
        self.of.answered.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use super::*;

    /// User 1 is in forty groups, nobody else is known; it can be made to fail.
    #[derive(Default)]
    struct Book {
        asked: AtomicUsize,
        is_down: AtomicBool,
    }

    impl GroupSource for Arc<Book> {
        fn groups(&self, user: u32) -> io::Result<Option<Vec<u32>>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            match self.is_down.load(Ordering::SeqCst) {
                true => Err(io::ErrorKind::TimedOut.into()),
                false => Ok((user == 1).then(|| (100..140).collect())),
            }
        }
    }

    fn of_book() -> (Arc<Book>, UserGroups) {
        let book = Arc::<Book>::default();
        (Arc::clone(&book), UserGroups::new(book))
    }

    #[test]
    fn an_answer_is_remembered_for_a_while() {
        let (book, groups) = of_book();
        let start = Instant::now();
        assert!(groups.must_ask(1, start));
        for (now, asked) in [(start, 1), (start + GROUPS_AGE / 2, 1), (start + GROUPS_AGE, 2)] {
            assert_eq!(groups.of(1, now).expect("known").as_slice().len(), 40);
            assert_eq!(book.asked.load(Ordering::SeqCst), asked);
            assert!(!groups.must_ask(1, now));
        }
        assert_eq!(groups.of(2, start), None);
        assert!(!groups.must_ask(2, start), "that nobody knows it is an answer too");
        assert!(groups.must_ask(2, start + GROUPS_RETRY));
    }

    #[test]
    fn what_was_known_holds_while_nobody_can_be_asked() {
        let (book, groups) = of_book();
        let start = Instant::now();
        let before = groups.of(1, start);
        book.is_down.store(true, Ordering::SeqCst);
        assert_eq!(groups.of(1, start + GROUPS_AGE), before);
        assert_eq!(groups.of(3, start), None);
        book.is_down.store(false, Ordering::SeqCst);
        assert!(groups.must_ask(1, start + GROUPS_AGE + GROUPS_RETRY));
    }

    #[test]
    fn a_user_has_one_name_or_another_and_is_not_nobody_while_nobody_can_be_asked() {
        struct Names(Arc<AtomicBool>);
        impl GroupSource for Names {
            fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
                Ok(None)
            }
            fn user(&self, name: &str) -> io::Result<Option<UserAccount>> {
                let id = match name {
                    _ if self.0.load(Ordering::SeqCst) => return Err(io::ErrorKind::TimedOut.into()),
                    "alice@R" => 7,
                    "alice" => 8,
                    "bob" => 9,
                    _ => return Ok(None),
                };
                Ok(Some(UserAccount { user: id, group: id, groups: GroupList::default() }))
            }
        }
        let is_down = Arc::new(AtomicBool::new(true));
        let groups = UserGroups::new(Names(Arc::clone(&is_down)));
        let names =
            |full: &str, short: Option<&str>| UserNames { full: full.into(), short: short.map(Into::into) };
        let start = Instant::now();
        let alice = names("alice@R", Some("alice"));
        assert_eq!(groups.user(&alice, start), KnownUser::Unavailable);
        is_down.store(false, Ordering::SeqCst);
        let now = start + USER_RETRY;
        assert!(!groups.must_ask_user(&alice, start) && groups.must_ask_user(&alice, now));
        for (asked, id) in [
            (alice, Some(7)),
            (names("bob@R", Some("bob")), Some(9)),
            (names("bob@OTHER", None), None),
            (names("carol@R", Some("carol")), None),
        ] {
            let found = groups.user(&asked, now).account().map(|account| account.user);
            assert_eq!(found, id, "{asked:?}");
        }
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let (_, groups) = of_book();
        let start = Instant::now();
        for user in 0..GROUP_LISTS_MAX as u32 + 10 {
            groups.of(user, start + Duration::from_millis(u64::from(user)));
        }
        assert_eq!(groups.known.lock().len(), GROUP_LISTS_MAX);
    }

    #[test]
    fn a_user_of_too_many_groups_is_in_the_first_of_them() {
        struct All;
        impl GroupSource for All {
            fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
                Ok(Some((0..2000).collect()))
            }
        }
        let groups = UserGroups::new(All).of(1, Instant::now()).expect("known");
        assert_eq!(groups.as_slice(), (0..GROUPS_OF_ONE_MAX as u32).collect::<Vec<_>>());
    }

    #[test]
    fn one_asks_while_others_wait_and_a_question_that_breaks_hangs_nobody() {
        struct Slow(std::sync::Barrier, AtomicUsize);
        impl GroupSource for Arc<Slow> {
            fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
                self.1.fetch_add(1, Ordering::SeqCst);
                self.0.wait();
                Ok(Some(vec![9]))
            }
        }
        let slow = Arc::new(Slow(std::sync::Barrier::new(2), AtomicUsize::new(0)));
        let groups = UserGroups::new(Arc::clone(&slow));
        let now = Instant::now();
        std::thread::scope(|scope| {
            let asks: Vec<_> = (0..4).map(|_| scope.spawn(|| groups.of(7, now))).collect();
            slow.0.wait();
            for one in asks {
                assert_eq!(one.join().expect("answered").expect("known").as_slice(), [9]);
            }
        });
        assert_eq!(slow.1.load(Ordering::SeqCst), 1);
        struct Broken;
        impl GroupSource for Broken {
            fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
                panic!("as a test wants it")
            }
        }
        let groups = UserGroups::new(Broken);
        for _ in 0..2 {
            let asks = || groups.of(7, now);
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(asks)).is_err());
        }
    }
}
