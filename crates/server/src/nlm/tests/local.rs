//! Locks of clients and of processes of the server's own host, which are another file system over the same directory: its locks
//! are those of another open file.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::{Caller, FileLock, FileSystem, Handle, HostLocks, Name};
use howdah_wire::nlm::Status;
use howdah_wire::nlm::test::Outcome;
use tempfile::TempDir;

use super::client::{Client, Fixture};
use crate::states::StateOptions;

struct Host {
    fixture: Fixture,
    local: LocalFileSystem,
    node: Handle,
    _directory: TempDir,
}

const BYTES: FileLock = FileLock { first: 5, last: 14, exclusive: true };

impl Host {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        std::fs::write(&path, b"data").expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("changed");
        let open = || LocalFileSystem::open(directory.path(), Options::default()).expect("opened");
        let (served, local) = (open(), open());
        let find = |file_system: &LocalFileSystem| {
            let name = Name::parse(b"file").expect("a name");
            file_system.lookup(&Caller::ROOT, &file_system.root(), name).expect("it is there").node.handle
        };
        let (file, node, root) = (find(&served), find(&local), served.root());
        let fixture = Fixture::of(Arc::new(served), [file, file, root], StateOptions::forgetful());
        Self { fixture, local, node, _directory: directory }
    }

    fn clients(&self) -> [Client; 2] {
        [("one", "192.0.2.9"), ("other", "192.0.2.10")].map(|(name, from)| self.fixture.client(name, from))
    }

    fn locks(&self) -> &dyn HostLocks {
        self.local.host_locks().expect("a local file system")
    }

    /// Whether a client is to be called: it got a lock.
    fn is_granted(&self) -> bool {
        let calls = self.fixture.service.lock_calls.as_ref().expect("locks").granting.callbacks();
        let mut tickets = std::iter::from_fn(|| calls.grants().pop());
        tickets.any(|call| calls.pending().get(call.ticket).is_some())
    }

    fn tick(&self) {
        self.fixture.service.states.as_ref().expect("locks").tick();
    }
}

#[test]
fn a_local_process_sees_what_clients_lock() {
    let host = Host::new();
    let [one, _] = host.clients();
    assert_eq!(one.lock(&host.fixture.file, 1, (0, 10)), Status::Granted);
    let held = FileLock { first: 0, last: 9, exclusive: true };
    assert_eq!(host.locks().lock(&host.node, BYTES), Ok(Some(held)));
    assert_eq!(one.unlock(&host.fixture.file, 1, (5, 0)), Status::Granted);
    assert_eq!(host.locks().lock(&host.node, BYTES), Ok(None));
}

#[test]
fn a_client_is_denied_what_a_local_process_locks_and_gets_it_afterwards() {
    let host = Host::new();
    let [one, other] = host.clients();
    assert_eq!(host.locks().lock(&host.node, BYTES), Ok(None));
    let tested = one.test(&host.fixture.file, 1, (14, 10));
    assert!(
        matches!(tested, Outcome::Denied(holder) if (holder.offset, holder.length) == (5, 10)),
        "{tested:?}"
    );
    assert_eq!(one.lock(&host.fixture.file, 1, (14, 10)), Status::Denied);
    assert_eq!(other.lock(&host.fixture.file, 1, (15, 10)), Status::Granted, "beside it");
    assert_eq!(other.unlock(&host.fixture.file, 1, (0, 0)), Status::Granted);
    assert_eq!(one.wait(&host.fixture.file, 1, (0, 10)), Status::Blocked);
    host.tick();
    assert!(!host.is_granted());
    host.locks().unlock(&host.node, 0, 9).expect("unlocked");
    host.tick();
    assert!(host.is_granted(), "it was let go");
    host.locks().unlock_all(&host.node);
    // Without waiting for the next look.
    assert_eq!(other.lock(&host.fixture.file, 1, (10, 5)), Status::Granted);
    let held = FileLock { first: 0, last: 14, exclusive: true };
    let found = host.locks().test(&host.node, FileLock { first: 0, last: u64::MAX, exclusive: true });
    assert!(matches!(found, Ok(Some(found)) if found.first == 0 && found.last <= held.last), "{found:?}");
}

#[test]
fn a_lock_that_was_waited_for_is_not_granted_over_a_local_one() {
    let host = Host::new();
    let [one, other] = host.clients();
    let read = one.bytes(&host.fixture.file, 1, (0, 10));
    assert_eq!(one.lock_as(read, false, false, false), Status::Granted);
    assert_eq!(host.locks().lock(&host.node, FileLock { exclusive: false, ..BYTES }), Ok(None), "both read");
    assert_eq!(other.wait(&host.fixture.file, 1, (0, 10)), Status::Blocked);
    assert_eq!(one.unlock(&host.fixture.file, 1, (0, 0)), Status::Granted);
    assert!(!host.is_granted());
    host.tick();
    assert!(!host.is_granted());
    host.locks().unlock_all(&host.node);
    host.tick();
    assert!(host.is_granted());
    assert_ne!(host.locks().lock(&host.node, BYTES), Ok(None));
}
