//! A server that grants a session few slots: a client that uses all of them has further sessions.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::FileSystem;
use howdah_vfs::conformance::Abilities;
use howdah_wire::nfs4::{create_session, destroy_clientid, destroy_session, sequence};

use crate::middleman::{Exchange, Fate, Middleman};
use crate::restarts::round;
use crate::served::{EXPORT, memory, serve_at};

/// Slots of a session.
const SLOTS: u32 = 2;
const THREADS: usize = 12;
const RESTARTS: usize = 4;
/// Where results begin behind the head of a compound's reply: the number of the first operation, and its status.
const FIRST: usize = 12;

/// What went by.
#[derive(Default)]
struct Seen {
    /// Sessions in which calls were made.
    used: BTreeSet<Vec<u8>>,
    /// Sessions that were made, and destroyed.
    made: usize,
    destroyed: usize,
    /// How DESTROY_CLIENTID ended.
    left: Option<u32>,
}

impl Seen {
    /// Grants few slots in place of the server.
    fn judge(&mut self, exchange: &Exchange<'_>) -> Fate {
        let word =
            |at: usize| exchange.results.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word));
        let (operation, status) = (word(FIRST), word(FIRST + 4));
        let is_done = status == Some(0);
        let granted = match operation {
            Some(sequence::OPERATION) if is_done => {
                self.used.insert(exchange.results[FIRST + 8..][..16].to_vec());
                // The highest slot, and the highest that is wanted.
                [(FIRST + 32, SLOTS - 1), (FIRST + 36, SLOTS - 1)].to_vec()
            }
            Some(create_session::OPERATION) if is_done => {
                self.made += 1;
                vec![(FIRST + 52, SLOTS)]
            }
            Some(destroy_session::OPERATION) => {
                self.destroyed += usize::from(is_done);
                return Fate::Pass;
            }
            Some(destroy_clientid::OPERATION) => {
                self.left = status;
                return Fate::Pass;
            }
            _ => return Fate::Pass,
        };
        let mut results = exchange.results.to_vec();
        granted.iter().for_each(|(at, number)| results[*at..][..4].copy_from_slice(&number.to_be_bytes()));
        Fate::Replace(results)
    }
}

fn between(middleman: &Middleman) -> (Arc<dyn Remote>, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let sees = Arc::clone(&seen);
    middleman.judge(move |exchange| sees.lock().expect("unpoisoned").judge(exchange));
    let url = format!("nfs://{}{EXPORT}?version=4&lanes=2", middleman.address).parse().expect("a URL");
    (connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}")), seen)
}

#[test]
fn a_client_that_uses_all_slots_has_more_by_further_sessions_and_leaves_none() {
    let any = "127.0.0.1:0".parse().expect("an address");
    let served = serve_at(any, memory(), Abilities::default(), None);
    let (client, seen) = between(&Middleman::before(served.address));
    let used = || seen.lock().expect("unpoisoned").used.len();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let client = &client;
            scope.spawn(move || (0..8).for_each(|number| round(&**client, thread, number)));
        }
    });
    assert!(used() > 2 && used() <= 16, "{} sessions", used());
    drop(client);
    // The end does not wait for answers.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while seen.lock().expect("unpoisoned").left.is_none() && std::time::Instant::now() < end {
        thread::yield_now();
    }
    let seen = seen.lock().expect("unpoisoned");
    assert_eq!((seen.made, seen.left), (seen.destroyed, Some(0)));
}

#[test]
fn nothing_is_lost_with_further_sessions_when_the_server_restarts() {
    let files: Arc<dyn FileSystem> = memory();
    let serve = |address| serve_at(address, Arc::clone(&files), Abilities::default(), None);
    let first = serve("127.0.0.1:0".parse().expect("an address"));
    let address = first.address;
    let (client, seen) = between(&Middleman::before(address));
    let (mut served, over) = (Some(first), AtomicBool::new(false));
    let used = || seen.lock().expect("unpoisoned").used.len();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (client, over) = (&client, &over);
            scope.spawn(move || {
                for number in 0.. {
                    round(&**client, thread, number);
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                }
            });
        }
        for _ in 0..RESTARTS {
            let before = used();
            while used() < before + 3 {
                thread::yield_now();
            }
            drop(served.take());
            served = Some(serve(address));
        }
        over.store(true, Ordering::SeqCst);
    });
}
