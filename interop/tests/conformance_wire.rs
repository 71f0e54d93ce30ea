//! The conformance suite and the operation lists through the wire: a running server over memory and over a local
//! directory, a second implementation of the protocol as the client, streams and datagrams between. With privilege and,
//! where this process has it, once more without.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

use howdah_interop::other_client::{OtherClient, Transport};
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::conformance::operations::{Arena, run_operations};
use howdah_vfs::conformance::{self, Abilities, ActsAs, Subject};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{Caller, FileSystem};
use tempfile::TempDir;

/// What the server exports.
const EXPORT: &str = "/export";

/// Entries of a large directory: enough for hundreds of pages.
const MANY: usize = 2_000;

/// Lists of operations, and how long each is.
const LISTS: u64 = 20;
const OPERATIONS: usize = 300;

/// Who has no privilege.
const NOBODY: u32 = 65_534;

/// A server that runs as long as this lives.
struct Served {
    address: SocketAddr,
    abilities: Abilities,
    _server: Server,
    _directory: Option<TempDir>,
}

fn serve(fs: Arc<dyn FileSystem>, abilities: Abilities, directory: Option<TempDir>) -> Served {
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let export = Export::new(EXPORT, 1, fs, vec![rule]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one export");
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], true).expect("a free port");
    let server =
        Server::start(&Settings { workers: 4, ..Settings::default() }, sockets, exports).expect("a server");
    let address = server.addresses()[0].1;
    Served { address, abilities, _server: server, _directory: directory }
}

fn serve_memory() -> Served {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let abilities = Abilities { many_entries: MANY, ..Abilities::default() };
    serve(Arc::new(MemoryFileSystem::with_options(options)), abilities, None)
}

fn serve_local() -> Served {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [export, state] = ["export", "state"].map(|name| directory.path().join(name));
    [&export, &state].into_iter().for_each(|path| std::fs::create_dir(path).expect("a directory"));
    let options = Options { state: Some(state), sync: SyncMode::Async, ..Options::default() };
    let fs = LocalFileSystem::open(&export, options).expect("a local directory");
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let acts_as = if user.is_root() {
        ActsAs::Caller
    } else {
        ActsAs::Always(Caller::new(user.as_raw(), group.as_raw()))
    };
    let abilities = Abilities { acts_as, many_entries: MANY, ..Abilities::default() };
    serve(Arc::new(fs), abilities, Some(directory))
}

fn subject(served: &Served, transport: Transport) -> Subject {
    let client = OtherClient::mount(transport, served.address, EXPORT).expect("a way to the server");
    Subject::new(Arc::new(client), served.abilities.clone())
}

fn conforms(served: &Served, transport: Transport) {
    let report = conformance::run(&|| subject(served, transport));
    assert!(report.is_success(), "over {transport:?}: {report}");
}

fn equals_the_model(served: &Served, transport: Transport) {
    for seed in 0..LISTS {
        run_operations(seed, OPERATIONS, &|| subject(served, transport))
            .unwrap_or_else(|difference| panic!("over {transport:?}: {difference}"));
    }
}

#[test]
fn memory_conforms_over_tcp() {
    conforms(&serve_memory(), Transport::Tcp);
}

#[test]
fn memory_conforms_over_udp_when_every_answer_is_lost_once() {
    conforms(&serve_memory(), Transport::RepeatingUdp);
}

#[test]
fn a_local_directory_conforms_over_tcp() {
    conforms(&serve_local(), Transport::Tcp);
}

#[test]
fn a_local_directory_conforms_over_udp() {
    conforms(&serve_local(), Transport::Udp);
}

#[test]
fn memory_equals_the_model() {
    let served = serve_memory();
    for transport in [Transport::Tcp, Transport::RepeatingUdp] {
        equals_the_model(&served, transport);
    }
}

#[test]
fn a_local_directory_equals_the_model() {
    let served = serve_local();
    for transport in [Transport::Tcp, Transport::RepeatingUdp] {
        equals_the_model(&served, transport);
    }
}

/// Runs the tests of local directories again as nobody, where this process is the superuser.
#[test]
fn without_privilege_all_of_it_holds_too() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // The build may lie where nobody may not go, so the program goes where everybody may.
    let home = tempfile::tempdir().expect("a temporary directory");
    std::fs::set_permissions(home.path(), Permissions::from_mode(0o755)).expect("chmod");
    let program = home.path().join("test");
    std::fs::copy(std::env::current_exe().expect("own path"), &program).expect("a copy of this program");
    let output = Command::new(&program)
        .args(["a_local_directory", "--test-threads=2"])
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("running as nobody");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("4 passed"), "as nobody: {}\n{text}", output.status);
}

/// Clients over both transports work in one directory at once; what is left must make sense.
fn several_clients_at_once(served: &Served) {
    let first = subject(served, Transport::Tcp);
    let arena = Arena::new(&first).expect("an arena");
    std::thread::scope(|scope| {
        let transports = [Transport::Tcp, Transport::Tcp, Transport::Udp, Transport::RepeatingUdp];
        for (seed, transport) in (0..).zip(transports) {
            let arena = &arena;
            scope.spawn(move || {
                let subject = subject(served, transport);
                arena
                    .work(&subject, seed, 1_000)
                    .unwrap_or_else(|wrong| panic!("over {transport:?}: {wrong}"));
            });
        }
    });
    arena.check(&first).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn several_clients_at_once_leave_memory_in_order() {
    several_clients_at_once(&serve_memory());
}

#[test]
fn a_local_directory_is_left_in_order_by_several_clients_at_once() {
    several_clients_at_once(&serve_local());
}
