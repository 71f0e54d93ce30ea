//! Hosts: how they lose their locks, and get them back after a restart of the server.

use std::time::Duration;

use howdah_wire::nlm::test::Outcome;
use howdah_wire::nlm::{CallerName, Lock, Status};
use howdah_wire::nsm::{self, MonitorName, notify};

use super::client::{Client, Fixture};
use crate::calling::call;
use crate::limits::HOSTS_OF_ADDRESS_MAX;
use crate::states::{OwnRights, StateOptions};

const LEASE: Duration = Duration::from_secs(3_600);

pub fn notify(client: &Client, name: &[u8], state: u32) {
    let arguments = notify::Arguments { name: MonitorName(name), state };
    let what = (nsm::PROGRAM, nsm::VERSION, notify::PROCEDURE);
    call(&client.service, &client.peer, what, &arguments).expect("an answer");
}

#[test]
fn a_host_that_restarted_loses_its_locks_and_no_other_host_does() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.client("one", "192.0.2.9"), fixture.client("one", "192.0.2.10"));
    assert_eq!(one.lock(&fixture.file, 1, (0, 10)), Status::Granted);
    let is_free = || other.test(&fixture.file, 1, (0, 10)) == Outcome::Other(Status::Granted);
    notify(&other, b"one", 5);
    assert!(!is_free(), "said from another address");
    notify(&one, b"two", 5);
    assert!(!is_free(), "another name");
    notify(&one, b"one", 3);
    assert!(!is_free(), "the number that it locked with");
    notify(&one, b"one.example.org", 5);
    assert!(is_free());
}

#[test]
fn one_address_does_not_take_the_room_of_all_hosts() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.client("one", "192.0.2.9"), fixture.client("one", "192.0.2.10"));
    let lock_as = |name: usize| {
        let name = name.to_string();
        let lock = Lock { caller: CallerName(name.as_bytes()), ..one.bytes(&fixture.file, 1, (0, 10)) };
        one.lock_as(lock, false, false, false)
    };
    (0..HOSTS_OF_ADDRESS_MAX).for_each(|name| assert_eq!(lock_as(name), Status::Granted, "{name}"));
    assert_eq!(lock_as(HOSTS_OF_ADDRESS_MAX), Status::NoLocks);
    assert_eq!(lock_as(0), Status::Granted, "it is known");
    assert_eq!(other.lock(&fixture.file, 1, (20, 10)), Status::Granted);
}

#[test]
fn free_all_frees_what_its_host_has() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.client("one", "192.0.2.9"), fixture.client("other", "192.0.2.10"));
    assert_eq!(one.lock(&fixture.file, 1, (0, 10)), Status::Granted);
    other.free_all();
    assert_eq!(other.lock(&fixture.file, 1, (0, 10)), Status::Denied);
    one.free_all();
    assert_eq!(other.lock(&fixture.file, 1, (0, 10)), Status::Granted);
}

#[test]
fn after_a_restart_locks_are_reclaimed_and_none_are_made() {
    let directory = tempfile::tempdir().expect("a directory");
    let start = || {
        let options = StateOptions::in_directory(directory.path(), OwnRights::always()).expect("records");
        Fixture::with(options.with_lease(LEASE))
    };
    let first = start();
    let client = first.client("one", "192.0.2.9");
    assert_eq!(client.lock(&first.file, 1, (0, 10)), Status::Granted);
    assert_eq!(first.client("two", "192.0.2.10").lock(&first.file, 1, (0, 10)), Status::Denied);
    let numbers = [&first, &start()].map(|run| run.service.states.as_ref().expect("locks").host_number());
    assert_eq!(numbers, [1, 3]);

    let second = start();
    let to_notify = second.service.states.as_ref().expect("locks").hosts_to_notify();
    let [host] = &to_notify[..] else { panic!("{to_notify:?}") };
    let addresses = (host.client.to_string(), host.server.to_string());
    assert_eq!((&*host.name, addresses), (&b"one"[..], ("192.0.2.9".into(), "192.0.2.1".into())));
    let (one, two) = (second.client("one", "192.0.2.9"), second.client("two", "192.0.2.10"));
    assert_eq!(two.lock(&second.file, 1, (20, 10)), Status::Grace);
    assert_eq!(two.test(&second.file, 1, (20, 10)), Outcome::Other(Status::Grace));
    let reclaim = |client: &Client| client.lock_as(client.bytes(&second.file, 1, (0, 10)), true, false, true);
    assert_eq!(reclaim(&two), Status::Denied, "it had none");
    assert_eq!(reclaim(&one), Status::Granted);
    assert_eq!(one.unlock(&second.file, 1, (0, 10)), Status::Granted);
}
