//! Two heads of a cluster that keep their records where both read them, and an address that moves between them.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use howdah_store::local::{LocalFileSystem, Options, with_server_rights};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, FileSystem, Name, Result};

use howdah_wire::nlm::Status;

use super::client::{Client, Fixture, SERVER};
use crate::Transport;
use crate::calling::peer;
use crate::states::{HeadSettings, OwnRights, StateOptions};

/// The other head's own address.
const OWN: &str = "192.0.2.2:2049";
const LEASE: Duration = Duration::from_secs(3_600);

fn settings() -> HeadSettings {
    let addresses = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().expect("an address"));
    HeadSettings { scope: [1; 16], exports: Vec::new(), addresses: addresses.into() }
}

fn head(records: &Path, number: u64) -> Fixture {
    let settings = settings();
    Fixture::with(
        StateOptions::in_cluster(&records.join("records"), OwnRights::always(), number, &settings, LEASE)
            .expect("records"),
    )
}

fn client(head: &Fixture, name: &'static str, address: &str, server: &str) -> Client {
    let peer = peer(&format!("{address}:701"), server, Transport::Udp);
    Client { peer, ..head.client(name, address) }
}

fn reclaim(head: &Fixture, client: &Client) -> Status {
    client.lock_as(client.bytes(&head.file, 1, (0, 10)), true, false, true)
}

#[test]
fn locks_move_with_their_address_and_nobody_else_gets_them() {
    let home = tempfile::tempdir().expect("a directory");
    let (first, second) = (head(home.path(), 1), head(home.path(), 2));
    let at_second = client(&second, "two", "192.0.2.10", OWN);
    assert_eq!(client(&first, "one", "192.0.2.9", SERVER).lock(&first.file, 1, (0, 10)), Status::Granted);
    assert_eq!(at_second.lock(&second.file, 1, (50, 1)), Status::Granted, "it is no grace before the move");

    // The address moves: the next call to it comes to the second head.
    let mover = client(&second, "one", "192.0.2.9", SERVER);
    assert_eq!(mover.lock(&second.file, 2, (20, 1)), Status::Grace);
    assert_eq!(at_second.lock(&second.file, 1, (0, 10)), Status::Grace);
    assert_eq!(reclaim(&second, &at_second), Status::Denied, "it had nothing there");
    assert_eq!(reclaim(&second, &mover), Status::Granted);
    let states = second.service.states.as_ref().expect("locks");
    let untold = states.cluster().expect("a head").untold_hosts();
    assert_eq!(untold.iter().map(|host| &*host.name).collect::<Vec<_>>(), [b"one"]);
    assert_eq!(states.cluster().expect("a head").untold_hosts(), [], "each gets one notice");

    // The first head, if it lives, has lost the client, and grants nothing to others that still come to it.
    let late = client(&first, "late", "192.0.2.11", SERVER);
    assert_ne!(late.lock(&first.file, 1, (30, 1)), Status::Granted);
    let states = first.service.states.as_ref().expect("locks");
    states.leave_lost_addresses();
    assert_eq!(states.ask(|state, _| Ok(state.files().count())), Ok(0));

    // Killed, it does not give grace to clients that went.
    drop(first);
    let first = head(home.path(), 1);
    assert!(!first.service.states.as_ref().expect("locks").is_grace());
}

/// Counts calls of `let_go`.
struct Counted {
    inner: MemoryFileSystem,
    closed: AtomicUsize,
}

impl Layer for Counted {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn let_go(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }
}

#[test]
fn a_head_closes_what_it_keeps_open_when_an_address_comes_or_goes() {
    let home = tempfile::tempdir().expect("a directory");
    let [(first, closed_first), (second, closed_second)] = [1, 2].map(|number| {
        let counted = Arc::new(Counted { inner: MemoryFileSystem::new(), closed: AtomicUsize::new(0) });
        let root = counted.root();
        let settings = settings();
        let states = StateOptions::in_cluster(
            &home.path().join("records"),
            OwnRights::always(),
            number,
            &settings,
            LEASE,
        );
        (Fixture::of(Arc::clone(&counted) as _, [root; 3], states.expect("records")), counted)
    });
    let closed = || [&closed_first, &closed_second].map(|head| head.closed.load(Ordering::SeqCst));
    let states = |head: &Fixture| head.service.states.clone().expect("locks");
    let address = "192.0.2.1".parse().expect("an address");

    states(&first).serve_address(address).expect("it serves it");
    states(&first).leave_lost_addresses();
    assert_eq!(closed(), [0, 0], "no other head served it before");
    states(&second).serve_address(address).expect("it serves it");
    assert_eq!(closed(), [0, 1], "it comes");
    states(&second).serve_address(address).expect("it serves it");
    assert_eq!(closed(), [0, 1], "it is there");
    for looks in 0..2 {
        states(&first).leave_lost_addresses();
        states(&second).leave_lost_addresses();
        assert_eq!(closed(), [1, 1], "it goes, look {looks}");
    }
    states(&first).serve_address(address).expect("it serves it");
    assert_eq!(closed(), [2, 1], "it comes back");
}

#[test]
fn a_head_that_takes_an_address_back_takes_the_locks_back() {
    let home = tempfile::tempdir().expect("a directory");
    let (first, second) = (head(home.path(), 1), head(home.path(), 2));
    for (number, head) in [&first, &second, &first].into_iter().enumerate() {
        let one = client(head, "one", "192.0.2.9", SERVER);
        if number == 0 {
            assert_eq!(one.lock(&head.file, 1, (0, 10)), Status::Granted);
        } else {
            assert_eq!(reclaim(head, &one), Status::Granted, "move {number}");
        }
        for other in [&first, &second] {
            other.service.states.as_ref().expect("locks").leave_lost_addresses();
        }
    }
}

/// A head that serves a directory as a user of the calls: its threads have no rights of their own then.
fn head_of(directory: &Path, records: &Path) -> Fixture {
    let served = LocalFileSystem::open(directory, Options::default()).expect("opened");
    let (root, name) = (served.root(), Name::parse(b"file").expect("a name"));
    let file = served.lookup(&Caller::ROOT, &root, name).expect("it is there").node.handle;
    let rights = OwnRights::by(|work| with_server_rights(work).map_err(std::io::Error::other));
    let settings = settings();
    let states =
        StateOptions::in_cluster(&records.join("records"), rights, 1, &settings, LEASE).expect("records");
    Fixture::of(Arc::new(served), [file, file, root], states)
}

#[test]
fn an_ordinary_user_locks_at_a_head_whose_records_it_cannot_read() {
    let (home, data) = [(); 2].map(|()| tempfile::tempdir().expect("a directory")).into();
    for (path, mode) in [(data.path().join("file"), 0o666), (data.path().into(), 0o777)] {
        if mode == 0o666 {
            std::fs::write(&path, b"data").expect("written");
        }
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("changed");
    }
    let head = head_of(data.path(), home.path());
    let one = client(&head, "one", "192.0.2.9", SERVER);
    assert_eq!(one.lock(&head.file, 1, (0, 10)), Status::Granted);
}

#[test]
fn addresses_that_are_not_named_move_nowhere() {
    let home = tempfile::tempdir().expect("a directory");
    let (first, second) = (head(home.path(), 1), head(home.path(), 2));
    let states = |head: &Fixture| head.service.states.clone().expect("locks");
    for address in ["127.0.0.1", "::1", "fe80::1", "172.17.0.1", "192.0.2.3"] {
        let address = address.parse().expect("an address");
        states(&first).serve_address(address).expect("it serves it");
        states(&second).serve_address(address).expect("it serves it");
        states(&first).leave_lost_addresses();
    }
    assert!(!home.path().join("records/addresses").read_dir().expect("made").any(|_| true));
}

#[test]
fn a_stranger_moves_no_address() {
    let home = tempfile::tempdir().expect("a directory");
    let (first, second) = (head(home.path(), 1), head(home.path(), 2));
    assert_eq!(client(&first, "one", "192.0.2.9", SERVER).lock(&first.file, 1, (0, 10)), Status::Granted);
    let at_second = client(&second, "two", "192.0.2.10", OWN);
    assert_eq!(at_second.lock(&second.file, 1, (50, 1)), Status::Granted);
    // No export admits the first of them. The second has no lock that it could let go.
    for (name, address) in [("x", "198.51.100.7"), ("y", "192.0.2.11")] {
        let stranger = client(&second, name, address, SERVER);
        if name == "x" {
            stranger.lock(&second.file, 1, (0, 10));
        }
        stranger.unlock(&second.file, 1, (0, 10));
        stranger.cancel(&second.file, 1, (0, 10));
        stranger.unshare(&second.file, b"owner");
        stranger.free_all();
    }
    let states = second.service.states.as_ref().expect("locks");
    assert!(!states.is_grace(), "the address is still the first head's");
    assert_eq!(at_second.lock(&second.file, 1, (60, 1)), Status::Granted);
}

#[test]
fn a_head_that_restarts_on_a_full_disk_serves_those_who_are_recorded() {
    let home = tempfile::tempdir().expect("a directory");
    let first = head(home.path(), 1);
    assert_eq!(client(&first, "one", "192.0.2.9", SERVER).lock(&first.file, 1, (0, 10)), Status::Granted);
    drop(first);
    let of_head = "heads/0000000000000001";
    for draft in [
        format!("{of_head}/settings.new"),
        format!("{of_head}/clients.log.new"),
        "addresses/192.0.2.1.0000000000000001".into(),
    ] {
        // No file can be made in its place.
        std::fs::create_dir(home.path().join("records").join(draft)).expect("made");
    }
    let again = head(home.path(), 1);
    assert_eq!(reclaim(&again, &client(&again, "one", "192.0.2.9", SERVER)), Status::Granted);
}
