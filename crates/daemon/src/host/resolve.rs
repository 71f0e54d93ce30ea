//! From host names to addresses: at start and at every reload, never while a call waits. A name that the resolver does not
//! answer for is asked for again.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use howdah_config::{ClientPattern, ExportConfig};

/// How long all look-ups together may hold up a start or a reload.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a resolver that had no answer is left alone: a name is to be known soon after there is one, and one question in
/// such a time is no burden.
const AGAIN: Duration = Duration::from_secs(2);
/// What `getaddrinfo` says where a resolver may have an answer later, and not that there is none (`EAI_AGAIN`), or that memory ran short
/// (`EAI_MEMORY`): by glibc, by musl.
const LATER: [&str; 4] =
    ["Temporary failure in name resolution", "Try again", "Memory allocation failure", "Out of memory"];

/// What is known of the names of clients.
#[derive(Debug, Default)]
pub struct ClientNames {
    known: HashMap<String, Vec<IpAddr>>,
    /// Those that nobody has answered for.
    open: HashSet<String>,
    answers: Option<Receiver<Answer>>,
}

/// A name, and what is known of it now; nothing: the resolver may know later.
type Answer = (String, Option<Vec<IpAddr>>);

impl ClientNames {
    /// Looks up each host name in these exports. A name without an address is warned of, and matches nobody until the next
    /// reload. One for which there is no answer keeps the addresses that it had here, and is asked for until there is.
    pub fn looked_up(&self, exports: &[ExportConfig]) -> Self {
        self.looked_up_by(exports, resolve, PATIENCE)
    }

    fn looked_up_by(&self, exports: &[ExportConfig], resolve: Resolve, patience: Duration) -> Self {
        let (mut names, answers) = self.asked_for(exports, resolve);
        let (deadline, mut waits) = (Instant::now() + patience, names.open.clone());
        while !waits.is_empty()
            && let Ok(answer) = answers.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            waits.remove(&answer.0);
            names.take(answer);
        }
        for name in &names.open {
            let addresses = names.of(name);
            tracing::warn!(
                name,
                ?addresses,
                "cannot resolve this client's name: it keeps its old addresses until that works"
            );
        }
        Self { answers: Some(answers), ..names }
    }

    /// Begins to ask for all of them, with what is known of them here.
    fn asked_for(&self, exports: &[ExportConfig], resolve: Resolve) -> (Self, Receiver<Answer>) {
        let names = exports.iter().flat_map(|export| &export.clients).filter_map(|rule| match &rule.who {
            ClientPattern::Host(name) => Some(name.clone()),
            _ => None,
        });
        let open: HashSet<String> = names.collect();
        let known = open.iter().map(|name| (name.clone(), self.of(name).to_vec())).collect();
        let (sender, answers) = channel();
        for name in &open {
            let (name, sender) = (name.clone(), sender.clone());
            // One thread each: the system's resolver has no time limit of its own that we could set.
            let ask = move || ask(&name, resolve, &sender);
            if let Err(error) = thread::Builder::new().name("resolver".to_owned()).spawn(ask) {
                tracing::warn!(%error, "starting a thread to look up a client's name");
            }
        }
        (Self { known, open, answers: None }, answers)
    }

    /// Takes answers that came since; whether there were any.
    pub fn take_late(&mut self) -> bool {
        let late: Vec<Answer> = self.answers.iter().flat_map(Receiver::try_iter).collect();
        let before = self.open.len();
        for (name, addresses) in late {
            if let Some(addresses) = addresses.as_ref().filter(|addresses| !addresses.is_empty()) {
                tracing::info!(name, ?addresses, "this client's name is resolved");
            }
            self.take((name, addresses));
        }
        self.open.len() < before
    }

    /// Whether answers are awaited.
    pub fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The addresses of a name.
    pub fn of(&self, name: &str) -> &[IpAddr] {
        self.known.get(name).map_or(&[], Vec::as_slice)
    }

    /// Takes it if it is an answer, and not that there is none yet.
    fn take(&mut self, (name, addresses): Answer) {
        let Some(addresses) = addresses else { return };
        if addresses.is_empty() {
            tracing::warn!(name, "this client's name has no address: it is refused until a reload finds one");
        } else {
            tracing::debug!(name, ?addresses, "looked up a client's name");
        }
        self.open.remove(&name);
        self.known.insert(name, addresses);
    }
}

/// What is asked for addresses.
type Resolve = fn(&str) -> io::Result<Vec<IpAddr>>;

/// The addresses of a name.
pub(super) fn resolve(name: &str) -> io::Result<Vec<IpAddr>> {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip().to_canonical()).collect())
}

/// Asks until there is an answer, or nobody waits for it.
fn ask(name: &str, resolve: Resolve, answers: &Sender<Answer>) {
    loop {
        let addresses = match resolve(name) {
            Ok(addresses) => Some(addresses),
            Err(error) => {
                tracing::debug!(name, %error, "looking up a client's name");
                (!may_come_later(&error)).then(Vec::new)
            }
        };
        let is_over = addresses.is_some();
        if answers.send((name.to_owned(), addresses)).is_err() || is_over {
            return;
        }
        thread::sleep(AGAIN);
    }
}

/// Whether it is no answer: the resolver has none yet, or could not be asked (`EAI_SYSTEM`: descriptors ran short, for one). All else counts
/// as no such name, which lets nobody in.
pub(super) fn may_come_later(error: &io::Error) -> bool {
    let text = error.to_string();
    error.raw_os_error().is_some() || LATER.iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use howdah_config::load_text;
    use rustix::io::Errno;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);
    const OLD: [u8; 4] = [192, 0, 2, 1];
    const NEW: [u8; 4] = [192, 0, 2, 2];
    /// What the resolver says: an address, no such name, or nothing.
    static SAYS: Mutex<Result<[u8; 4], &str>> = Mutex::new(Ok(OLD));

    fn say(what: Result<[u8; 4], &'static str>) {
        *SAYS.lock().expect("nobody panicked") = what;
    }

    fn resolver(_: &str) -> io::Result<Vec<IpAddr>> {
        let says = *SAYS.lock().expect("nobody panicked");
        says.map(|address| vec![address.into()]).map_err(io::Error::other)
    }

    fn export() -> Vec<ExportConfig> {
        let file = "state = '/nonexistent'\n[[export]]\nname = '/data'\npath = '/usr'\nclients = 'host'\n";
        load_text("howdah.toml".as_ref(), file.to_owned()).expect("good").exports
    }

    #[test]
    fn a_resolver_that_could_not_be_asked_has_not_answered() {
        let is_temporary = |text: &str| may_come_later(&io::Error::other(text));
        assert!(may_come_later(&Errno::MFILE.into()) && may_come_later(&Errno::IO.into()));
        assert!(is_temporary("failed to lookup address information: Try again"));
        assert!(is_temporary("failed to lookup address information: Memory allocation failure"));
        assert!(!is_temporary("failed to lookup address information: Name or service not known"));
    }

    #[test]
    fn a_name_keeps_its_addresses_while_nobody_answers_and_loses_them_by_an_answer() {
        let exports = export();
        let look_up = |before: &ClientNames| before.looked_up_by(&exports, resolver, SOON);
        let names = look_up(&ClientNames::default());
        assert_eq!((names.of("host"), names.are_open()), (&[IpAddr::from(OLD)][..], false));
        say(Err("failed to lookup address information: Temporary failure in name resolution"));
        let mut names = look_up(&names);
        assert_eq!((names.of("host"), names.are_open()), (&[IpAddr::from(OLD)][..], true));
        assert!(!names.take_late());
        say(Ok(NEW));
        let start = Instant::now();
        while !names.take_late() {
            assert!(start.elapsed() < SOON, "it is asked again");
            thread::yield_now();
        }
        assert_eq!((names.of("host"), names.are_open()), (&[IpAddr::from(NEW)][..], false));
        say(Err("failed to lookup address information: Name or service not known"));
        let names = look_up(&names);
        assert_eq!((names.of("host"), names.are_open()), (&[][..], false));
    }
}
