//! The names of clients, for rules that name hosts: asked for by the address that calls, believed if the name leads back to it, and
//! remembered. Only the first call of a client waits, and not for long. It does not know where the answers come from.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::copies::Copies;
use crate::limits::{
    HOST_AGE, HOST_LOOKUPS_MAX, HOST_NAMELESS_AGE, HOST_NAMES_MAX, HOST_PATIENCE, HOST_RETRY,
};
use crate::seldom::Seldom;

/// Who knows the names of hosts. Asking may take as long as another host takes to answer.
pub trait HostSource: Send + Sync {
    /// The name of the host that has an address; `None`: it has none.
    ///
    /// # Errors
    /// It cannot be found out now.
    fn name(&self, address: IpAddr) -> io::Result<Option<String>>;

    /// The addresses of the host of a name; none: there is no such host.
    ///
    /// # Errors
    /// It cannot be found out now.
    fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Whether a host is one that is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameVerdict {
    /// It is.
    Fits,
    /// It is not.
    Other,
    /// It cannot be found out now.
    Unknown,
}

/// The names of clients, each asked for once in a while.
pub struct HostDirectory {
    shared: Arc<Shared>,
    /// How long a first call waits.
    patience: Duration,
}

struct Shared {
    source: Box<dyn HostSource>,
    known: Copies<Arc<HashMap<IpAddr, Known>>>,
    /// Held while names are added.
    adding: Mutex<()>,
    /// The addresses that are asked for, and since when.
    asked: Mutex<HashMap<IpAddr, Instant>>,
    answered: Condvar,
    failures: Seldom,
}

/// What is known of one client.
#[derive(Clone)]
struct Known {
    name: Answer,
    /// When to ask again. Until there is another answer, this one counts.
    until: Instant,
}

#[derive(Clone)]
enum Answer {
    /// A name that leads back to the address; in lower case.
    Name(Arc<str>),
    /// It has none.
    Nameless,
    /// It could not be found out.
    Unavailable,
}

impl HostDirectory {
    /// As this source knows them.
    pub fn new(source: impl HostSource + 'static) -> Self {
        let shared = Shared {
            source: Box::new(source),
            known: Copies::new(Arc::default()),
            adding: Mutex::default(),
            asked: Mutex::default(),
            answered: Condvar::new(),
            failures: Seldom::each_minute(),
        };
        Self { shared: Arc::new(shared), patience: HOST_PATIENCE }
    }

    /// Whether [`Self::judge`] may wait.
    pub(crate) fn must_ask(&self, client: IpAddr) -> bool {
        let client = client.to_canonical();
        self.shared.known.look(|known| !known.contains_key(&client))
    }

    /// Whether the name of a client is one that is meant. Waits for an answer if there was none before, but not for long.
    pub(crate) fn judge(&self, client: IpAddr, is_meant: impl Fn(&str) -> bool) -> NameVerdict {
        let client = client.to_canonical();
        let look = |now: Instant| {
            self.shared.known.look(|known| {
                known.get(&client).map(|known| (known.name.judge(&is_meant), known.until <= now))
            })
        };
        let now = Instant::now();
        if let Some((verdict, is_old)) = look(now) {
            if is_old {
                self.begin(client, now);
            }
            return verdict;
        }
        self.wait_for(client, now);
        look(now).map_or(NameVerdict::Unknown, |(verdict, _)| verdict)
    }

    /// Waits for the first answer.
    fn wait_for(&self, client: IpAddr, now: Instant) {
        let Some(since) = self.begin(client, now) else { return };
        let mut asked = self.shared.asked.lock();
        while asked.contains_key(&client) {
            if self.shared.answered.wait_until(&mut asked, since + self.patience).timed_out() {
                return;
            }
        }
    }

    /// Asks, if nobody does; since when. `None`: too many are asked for.
    fn begin(&self, client: IpAddr, now: Instant) -> Option<Instant> {
        let mut asked = self.shared.asked.lock();
        if let Some(since) = asked.get(&client) {
            return Some(*since);
        }
        if asked.len() >= HOST_LOOKUPS_MAX {
            return None;
        }
        let shared = Arc::clone(&self.shared);
        let asking = move || {
            let asking = Asking { shared: &shared, client };
            shared.ask(asking.client);
        };
        // A thread each: the system's resolver has no time limit that we could set.
        match thread::Builder::new().name("resolver".to_owned()).spawn(asking) {
            Ok(_) => {
                asked.insert(client, now);
                Some(now)
            }
            Err(error) => {
                tracing::debug!(%client, %error, "starting a thread to look up a client's name");
                None
            }
        }
    }
}

impl Answer {
    fn judge(&self, is_meant: impl Fn(&str) -> bool) -> NameVerdict {
        match self {
            Self::Name(name) if is_meant(name) => NameVerdict::Fits,
            Self::Name(_) | Self::Nameless => NameVerdict::Other,
            Self::Unavailable => NameVerdict::Unknown,
        }
    }
}

impl Shared {
    fn ask(&self, client: IpAddr) {
        let answer = verified(&*self.source, client);
        if let Err(error) = &answer
            && let Some(others) = self.failures.log(Instant::now())
        {
            tracing::warn!(
                %client, %error, others,
                "cannot look up the name of a client: rules that name hosts are judged by its name before; without one, its calls must wait. Is the DNS server up?"
            );
        }
        self.learn(client, answer.ok(), Instant::now());
    }

    /// `None`: it could not be found out.
    fn learn(&self, client: IpAddr, answer: Option<Option<Arc<str>>>, now: Instant) {
        let _turn = self.adding.lock();
        let mut known = self.known.look(|known| HashMap::clone(known));
        let (name, age) = match answer {
            Some(Some(name)) => (Answer::Name(name), HOST_AGE),
            Some(None) => (Answer::Nameless, HOST_NAMELESS_AGE),
            None => (known.get(&client).map_or(Answer::Unavailable, |known| known.name.clone()), HOST_RETRY),
        };
        make_room(&mut known);
        known.insert(client, Known { name, until: now + age });
        self.known.replace(&Arc::new(known));
    }
}

/// Forgets the answer that is due first, if there is room for no other.
fn make_room(known: &mut HashMap<IpAddr, Known>) {
    if known.len() < HOST_NAMES_MAX {
        return;
    }
    if let Some(client) = known.iter().min_by_key(|(_, known)| known.until).map(|(client, _)| *client) {
        known.remove(&client);
    }
}

/// The name of a client, if it leads back to its address: who has an address may give it any name.
fn verified(source: &dyn HostSource, client: IpAddr) -> io::Result<Option<Arc<str>>> {
    let Some(name) = source.name(client)? else { return Ok(None) };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    if name.parse::<IpAddr>().is_ok() {
        return Ok(None);
    }
    let leads_back = source.addresses(&name)?.iter().any(|address| address.to_canonical() == client);
    if !leads_back {
        tracing::info!(%client, name, "the name of a client does not lead back to its address: rules that name hosts do not count it");
    }
    Ok(leads_back.then(|| name.into()))
}

/// A lookup of one address. When it ends, also by a panic, calls that wait for it wake up.
struct Asking<'s> {
    shared: &'s Shared,
    client: IpAddr,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.shared.asked.lock().remove(&self.client);
        self.shared.answered.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(500);

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// 192.0.2.1 is `a.example.org`; 192.0.2.2 says that it is, too; 192.0.2.3 is nobody; 192.0.2.4 cannot be looked up; the rest is
    /// `hangs.example.org`, for which there is an answer when the test says so.
    struct Book {
        asked: Arc<AtomicUsize>,
        hang: Mutex<Receiver<()>>,
    }

    impl HostSource for Book {
        fn name(&self, address: IpAddr) -> io::Result<Option<String>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            match address.to_string().as_str() {
                "192.0.2.1" | "192.0.2.2" => Ok(Some("A.Example.ORG.".to_owned())),
                "192.0.2.3" => Ok(None),
                "192.0.2.4" => Err(io::ErrorKind::TimedOut.into()),
                _ => {
                    let _ = self.hang.lock().recv();
                    Ok(Some("hangs.example.org".to_owned()))
                }
            }
        }

        fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            Ok(match name {
                "a.example.org" => vec![address("::ffff:192.0.2.1"), address("2001:db8::1")],
                _ => vec![address("192.0.2.9")],
            })
        }
    }

    fn names() -> (Arc<AtomicUsize>, Sender<()>, HostDirectory) {
        let (asked, (go_on, hang)) = (Arc::<AtomicUsize>::default(), channel());
        let book = Book { asked: Arc::clone(&asked), hang: Mutex::new(hang) };
        let names = HostDirectory { patience: PATIENCE, ..HostDirectory::new(book) };
        (asked, go_on, names)
    }

    fn is_of_example(name: &str) -> bool {
        name == "a.example.org" || name == "hangs.example.org"
    }

    #[test]
    fn a_name_counts_if_it_leads_back_and_is_asked_for_once() {
        let (asked, _, names) = names();
        for _ in 0..3 {
            for (client, expected) in [
                ("192.0.2.1", NameVerdict::Fits),
                ("::ffff:192.0.2.1", NameVerdict::Fits),
                ("192.0.2.2", NameVerdict::Other),
                ("192.0.2.3", NameVerdict::Other),
                ("192.0.2.4", NameVerdict::Unknown),
            ] {
                assert_eq!(names.judge(address(client), is_of_example), expected, "{client}");
                assert!(!names.must_ask(address(client)), "{client}");
            }
        }
        assert_eq!(asked.load(Ordering::SeqCst), 4);
    }

    #[test]
    fn a_resolver_that_hangs_holds_up_the_first_call_for_a_while_and_no_other() {
        let (asked, go_on, names) = names();
        let client = address("192.0.2.9");
        let start = Instant::now();
        assert_eq!(names.judge(client, is_of_example), NameVerdict::Unknown);
        let waited = start.elapsed();
        assert!(waited >= PATIENCE && waited < 20 * PATIENCE, "{waited:?}");
        let start = Instant::now();
        assert_eq!(names.judge(client, is_of_example), NameVerdict::Unknown);
        assert_eq!(names.judge(address("192.0.2.1"), is_of_example), NameVerdict::Fits);
        assert!(start.elapsed() < PATIENCE, "the second call, and another client");
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        go_on.send(()).expect("it hangs there");
        // It is answered in a moment, and a call that comes meanwhile waits no longer than a first one.
        while names.judge(client, is_of_example) == NameVerdict::Unknown {
            assert!(start.elapsed() < 20 * PATIENCE);
            thread::yield_now();
        }
        assert_eq!(names.judge(client, is_of_example), NameVerdict::Fits);
    }

    #[test]
    fn while_many_hang_no_more_threads_are_started_and_nobody_waits_for_one() {
        let (asked, go_on, names) = names();
        let of = |number: usize| IpAddr::from([198, 51, 100, number as u8]);
        for number in 0..HOST_LOOKUPS_MAX {
            assert!(names.begin(of(number), Instant::now()).is_some());
        }
        let start = Instant::now();
        assert_eq!(names.judge(of(HOST_LOOKUPS_MAX), is_of_example), NameVerdict::Unknown);
        assert!(start.elapsed() < PATIENCE);
        drop(go_on);
        while !names.shared.asked.lock().is_empty() {
            thread::yield_now();
        }
        assert_eq!(asked.load(Ordering::SeqCst), HOST_LOOKUPS_MAX);
    }

    #[test]
    fn what_was_known_counts_until_there_is_an_answer() {
        let (_, _, names) = names();
        let (client, now) = (address("192.0.2.4"), Instant::now());
        names.shared.learn(client, Some(Some("a.example.org".into())), now);
        names.shared.learn(client, None, now);
        assert_eq!(names.judge(client, is_of_example), NameVerdict::Fits);
        names.shared.learn(client, Some(None), now);
        assert_eq!(names.judge(client, is_of_example), NameVerdict::Other);
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let (_, _, names) = names();
        let now = Instant::now();
        let of = |number: usize| IpAddr::from((number as u32).to_be_bytes());
        let known: HashMap<IpAddr, Known> =
            (0..HOST_NAMES_MAX).map(|n| (of(n), Known { name: Answer::Nameless, until: now })).collect();
        names.shared.known.replace(&Arc::new(known));
        names.shared.learn(address("192.0.2.1"), Some(None), now);
        names.shared.known.look(|known| assert_eq!(known.len(), HOST_NAMES_MAX));
    }
}
