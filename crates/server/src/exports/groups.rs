//! Users as this host knows them: their groups, for callers in more than AUTH_SYS carries, and those that certificates name.
//! What was answered is remembered for a while. It does not know where the answers come from.

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use howdah_vfs::GroupList;
use parking_lot::{Condvar, Mutex};

use crate::limits::{
    GROUP_LISTS_MAX, GROUPS_AGE, GROUPS_OF_ONE_MAX, GROUPS_RETRY, USER_LOOKUPS_MAX, USER_PATIENCE, USER_RETRY,
};

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

/// The groups of users, each asked for once in a while. Calls wait for an answer, but not for long.
pub struct UserGroups {
    shared: Arc<SharedUsers>,
    patience: Duration,
}

/// What threads that ask share.
struct SharedUsers {
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
    /// Since when a thread asks.
    asked: Option<Instant>,
}

impl UserGroups {
    /// As this source knows them.
    pub fn new(source: impl GroupSource + 'static) -> Self {
        let shared = SharedUsers {
            source: Box::new(source),
            known: Mutex::default(),
            answered: Condvar::new(),
            fails: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared), patience: USER_PATIENCE }
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
        self.shared.known.lock().get(user).is_none_or(|known| known.asked.is_some() || known.until <= now)
    }

    /// The groups of a user. `None`: this host does not know the user, or could not ask and knew nothing before.
    pub(crate) fn of(&self, user: u32, now: Instant) -> Option<GroupList> {
        self.look_up(Asked::Id(user), now).0.account().map(|account| account.groups)
    }

    /// The user that a certificate names. `None`: this host does not know it, or could not ask and knew nothing before.
    pub(crate) fn named(&self, name: &Arc<str>, now: Instant) -> Option<UserAccount> {
        self.look_up(Asked::Name(Arc::clone(name)), now).0.account()
    }

    /// The user of one of these names, and until when that need not be asked for again.
    pub(crate) fn user(&self, names: &UserNames, now: Instant) -> (KnownUser, Instant) {
        self.look_up(Asked::User(names.clone()), now)
    }

    /// A group by its name, as an account whose group it is.
    pub(crate) fn group(&self, name: &str, now: Instant) -> KnownUser {
        self.look_up(Asked::Group(name.into()), now).0
    }

    /// Waits for an answer until the question is old, and then takes what was known before; with until when that is not asked again.
    fn look_up(&self, user: Asked, now: Instant) -> (KnownUser, Instant) {
        let mut all = self.shared.known.lock();
        loop {
            let since = match all.get(&user) {
                Some(Known { asked: Some(since), .. }) => *since,
                Some(known) if now < known.until => return (known.answer.clone(), known.until),
                _ => match self.begin(&mut all, &user, now) {
                    Some(since) => since,
                    None => break,
                },
            };
            if self.shared.answered.wait_until(&mut all, since + self.patience).timed_out() {
                self.shared.warn(&user, &io::ErrorKind::TimedOut.into());
                break;
            }
        }
        (all.get(&user).map_or(KnownUser::Unavailable, |known| known.answer.clone()), now)
    }

    /// Asks for a user, or must wait until others are answered; since when. `None`: no thread can be started.
    fn begin(&self, all: &mut HashMap<Asked, Known>, user: &Asked, now: Instant) -> Option<Instant> {
        let (count, newest) = all
            .values()
            .filter_map(|known| known.asked)
            .fold((0, None), |(count, newest), since| (count + 1, newest.max(Some(since))));
        if count >= USER_LOOKUPS_MAX {
            return newest;
        }
        let (shared, its, began) = (Arc::clone(&self.shared), user.clone(), Instant::now());
        let asking = move || {
            let answer = catch_unwind(AssertUnwindSafe(|| shared.ask(&its)));
            shared.learn(&its, answer.unwrap_or_else(|_| Err(io::Error::other("it panicked"))), now);
        };
        // A thread each: a user database has no time limit that we could set.
        if let Err(error) = thread::Builder::new().name("users".to_owned()).spawn(asking) {
            self.shared.warn(user, &error);
            return None;
        }
        make_room(all);
        let fresh = Known { answer: KnownUser::Unavailable, until: now, asked: None };
        all.entry(user.clone()).or_insert(fresh).asked = Some(began);
        Some(began)
    }
}

impl SharedUsers {
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

    fn learn(&self, user: &Asked, answer: io::Result<Option<UserAccount>>, now: Instant) {
        let mut all = self.known.lock();
        let Some(known) = all.get_mut(user) else { return };
        let age = match answer {
            Ok(found) => {
                if self.fails.swap(false, Ordering::Relaxed) {
                    tracing::info!("looking up groups of users works again");
                }
                known.answer = found.map_or(KnownUser::Nobody, KnownUser::Account);
                if let (KnownUser::Nobody, Asked::User(names)) = (&known.answer, user) {
                    tracing::warn!("this host has no user {}: acts as the anonymous user", names.full);
                }
                if known.answer == KnownUser::Nobody { GROUPS_RETRY } else { GROUPS_AGE }
            }
            // What was known goes on.
            Err(error) => {
                self.warn(user, &error);
                // Calls of a principal wait for the first answer.
                let waits = matches!(user, Asked::User(_) | Asked::Group(_))
                    && known.answer == KnownUser::Unavailable;
                if waits { USER_RETRY } else { GROUPS_RETRY }
            }
        };
        (known.until, known.asked) = (now + age, None);
        self.answered.notify_all();
    }

    fn warn(&self, user: &Asked, error: &io::Error) {
        if !self.fails.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                ?user,
                %error,
                "cannot look up groups of users; until it works again, earlier answers or the groups that clients send are used"
            );
        }
    }
}

/// Forgets the answer that is due first, if there is room for no other.
fn make_room(all: &mut HashMap<Asked, Known>) {
    if all.len() < GROUP_LISTS_MAX {
        return;
    }
    let idle = all.iter().filter(|(_, known)| known.asked.is_none());
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
        assert_eq!(groups.user(&alice, start), (KnownUser::Unavailable, start + USER_RETRY));
        is_down.store(false, Ordering::SeqCst);
        let now = start + USER_RETRY;
        assert!(!groups.must_ask_user(&alice, start) && groups.must_ask_user(&alice, now));
        for (asked, id) in [
            (alice, Some(7)),
            (names("bob@R", Some("bob")), Some(9)),
            (names("bob@OTHER", None), None),
            (names("carol@R", Some("carol")), None),
        ] {
            let found = groups.user(&asked, now).0.account().map(|account| account.user);
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
        assert_eq!(groups.shared.known.lock().len(), GROUP_LISTS_MAX);
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
        assert_eq!((groups.of(7, now), groups.of(7, now)), (None, None));
    }

    /// Users of odd ids hang until the test ends.
    struct Hanging(Mutex<std::sync::mpsc::Receiver<()>>);

    impl GroupSource for Hanging {
        fn groups(&self, user: u32) -> io::Result<Option<Vec<u32>>> {
            if user % 2 == 1 {
                let _ = self.0.lock().recv();
            }
            Ok(Some(vec![user]))
        }
    }

    #[test]
    fn a_user_whose_lookup_hangs_holds_up_its_first_calls_for_a_while_and_no_other_user() {
        let (go_on, hang) = std::sync::mpsc::channel();
        let patience = Duration::from_millis(300);
        let groups = UserGroups { patience, ..UserGroups::new(Hanging(Mutex::new(hang))) };
        let (now, start) = (Instant::now(), Instant::now());
        assert_eq!(groups.of(1, now), None);
        assert!(start.elapsed() >= patience);
        let start = Instant::now();
        assert_eq!(groups.of(1, now), None);
        assert_eq!(groups.of(2, now).expect("known").as_slice(), [2]);
        assert!(start.elapsed() < patience, "the next call, and another user");
        // As many as may be asked for hang: others do not wait for a place long, and get one when there is one.
        (1..USER_LOOKUPS_MAX as u32).for_each(|user| {
            let id = Asked::Id(2 * user + 1);
            assert!(groups.begin(&mut groups.shared.known.lock(), &id, now).is_some());
        });
        assert_eq!(groups.of(4, now), None);
        assert_eq!(groups.of(2, now).expect("known before").as_slice(), [2]);
        drop(go_on);
        while groups.of(1, now).is_none() {
            thread::yield_now();
        }
        assert_eq!(groups.of(4, now).expect("known").as_slice(), [4]);
    }

    /// The messages of events.
    #[derive(Clone, Default)]
    struct Messages(Arc<Mutex<Vec<String>>>);

    impl tracing::field::Visit for Messages {
        fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
            if field.name() == "message" {
                self.0.lock().push(format!("{value:?}"));
            }
        }
    }

    impl tracing::Subscriber for Messages {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            event.record(&mut self.clone());
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }

    #[test]
    fn a_user_whom_this_host_lacks_is_in_the_log() {
        let (messages, (_, groups), now) = (Messages::default(), of_book(), Instant::now());
        let carol = Asked::User(UserNames::one("carol"));
        for user in [&carol, &Asked::Id(7)] {
            let fresh = Known { answer: KnownUser::Unavailable, until: now, asked: Some(now) };
            groups.shared.known.lock().insert(user.clone(), fresh);
            let learn = || groups.shared.learn(user, Ok(None), now);
            tracing::subscriber::with_default(messages.clone(), learn);
        }
        assert_eq!(*messages.0.lock(), ["this host has no user carol: acts as the anonymous user"]);
    }
}
