//! Connecting to a server, and a word to the person who waits for it.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_client::nfs4::use_names_of;
use howdah_client::url::NfsUrl;
use howdah_tune::flight::Expected;

use super::host_names::HostNames;
use super::tickets::SystemTickets;
use crate::host::load_paths;
use crate::screen;

/// How long a person sees nothing before the command says what it waits for.
const SAYS_NOTHING: Duration = Duration::from_secs(2);

/// The file system of a URL. Says so if its server does not answer at once.
pub fn connect_to(url: &NfsUrl, options: &ConnectOptions) -> Result<Arc<dyn Remote>> {
    load_paths();
    use_names_of(Box::new(HostNames));
    let waits = || screen::complain(&format!("howdah: waiting for {} (no answer yet)", server(url)));
    let mut options = options.clone();
    options.channel.remembers_path = true;
    options.tickets.get_or_insert_with(|| Arc::<SystemTickets>::default());
    Ok(with_word(SAYS_NOTHING, waits, || connect(url, &options))?)
}

/// What the path to a server is expected to carry from it, and to it, by what was found minutes ago, or else by its round trip.
pub fn expected(client: &dyn Remote) -> [Option<Expected>; 2] {
    let path = client.channel().expected_path();
    [false, true].map(|writes| path.and_then(|path| path.expected(writes)))
}

/// The host, and the port if one was typed: without, the portmapper is asked first.
fn server(url: &NfsUrl) -> String {
    // An IPv6 address has brackets beside a port (RFC 3986 3.2.2).
    let is_bare = url.host.contains(':') && !url.host.starts_with('[');
    match url.port {
        Some(port) if is_bare => format!("[{}]:{port}", url.host),
        Some(port) => format!("{}:{port}", url.host),
        None => url.host.clone(),
    }
}

/// Runs `work`, and `word` beside it if that takes longer than `patience`.
fn with_word<T>(patience: Duration, word: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(move || {
            if is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                word();
            }
        });
        let outcome = work();
        drop(done);
        outcome
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_said_once_while_the_work_takes_long_and_never_else() {
        let (said, hears) = channel();
        let word = || said.send(()).expect("heard");
        with_word(Duration::from_millis(1), word, || hears.recv().expect("the word ends the work"));
        assert!(hears.try_recv().is_err());
        assert_eq!(with_word(Duration::from_secs(600), || panic!("too early"), || 7), 7);
    }

    #[test]
    fn a_server_is_named_as_it_was_typed() {
        for (typed, named) in [
            ("nfs://host/x", "host"),
            ("nfs://host:20049/x", "host:20049"),
            ("nfs://[::1]:20049/x", "[::1]:20049"),
        ] {
            assert_eq!(server(&typed.parse().expect("a URL")), named);
        }
    }
}
