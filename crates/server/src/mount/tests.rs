//! MOUNT as a client sees it.

use std::fmt::Debug;
use std::sync::Arc;

use crate::locks::Mutex;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, FileSystem, MakeDirectory, Name, NewAttributes};
use howdah_wire::mount::{self as wire, DirectoryPath, Status, dump, export, mnt, umnt};
use howdah_wire::rpc::{Accepted, AuthFlavor};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::calling::{call, peer};
use crate::exports::{ClientRule, Clients, Export, Exports};
use crate::result_of;
use crate::service::Service;
use crate::{Peer, Transport};

const VERSION_3: (u32, u32) = (wire::PROGRAM, wire::VERSION_3);

fn number(procedure: u32) -> (u32, u32, u32) {
    (VERSION_3.0, VERSION_3.1, procedure)
}

fn arguments(path: &str) -> mnt::Arguments<'_> {
    mnt::Arguments { path: DirectoryPath(path.as_bytes()) }
}

/// `/open` for everybody with a directory `inner`, `/closed` for one network and one address, `/nobody` for no one.
fn service() -> Service {
    let root = Caller::ROOT;
    let open = MemoryFileSystem::new();
    let inner = Name::parse(b"inner").expect("a name");
    let all = NewAttributes::with_mode(0o755);
    open.make_directory(&root, MakeDirectory::new(&open.root(), inner, &all), &mut Change::default())
        .expect("made");
    let only = |clients| ClientRule { clients, ..ClientRule::default() };
    let network = Clients::Network { address: "192.0.2.0".parse().expect("address"), prefix: 24 };
    let address = Clients::Addresses(vec!["203.0.113.5".parse().expect("address")]);
    let memory = || Arc::new(MemoryFileSystem::new());
    let exports = vec![
        Export::new("/open", 1, Arc::new(open), vec![ClientRule::default()]),
        Export::new("/closed", 2, memory(), vec![only(network), only(address)]),
        Export::new("/nobody", 3, memory(), Vec::new()),
    ];
    Service::new(Exports::new(exports, [1; 16]).expect("exports"))
}

fn outsider() -> Peer {
    peer("198.51.100.9:1001", "198.51.100.1:2049", Transport::Tcp)
}

fn insider() -> Peer {
    peer("192.0.2.9:1001", "198.51.100.1:2049", Transport::Tcp)
}

#[test]
fn a_path_is_mounted_by_its_export_and_the_names_below_it() {
    let service = service();
    let status =
        |peer: &Peer, path: &str| match result_of!(mnt::Reply, &service, peer, number(1), &arguments(path)) {
            Ok(success) => {
                assert!(!success.handle.0.is_empty());
                assert_eq!(success.flavors, [AuthFlavor::SYS]);
                None
            }
            Err(status) => Some(status),
        };
    for (path, expected) in [
        ("/open", None),
        ("/open/", None),
        ("/open/inner", None),
        ("/open/absent", Some(Status::NotFound)),
        ("/absent", Some(Status::NotFound)),
        ("/", Some(Status::NotFound)),
        ("", Some(Status::NotFound)),
        ("/closed", Some(Status::AccessDenied)),
        ("/nobody", Some(Status::AccessDenied)),
    ] {
        assert_eq!(status(&outsider(), path), expected, "{path}");
    }
    assert_eq!(status(&insider(), "/closed"), None);
    assert!(status(&outsider(), "/open/..").is_some(), "never out of the export");
    assert!(status(&outsider(), "/open/inner/../..").is_some(), "never out of the export");
}

#[test]
fn an_export_whose_directory_is_gone_is_not_mounted_and_the_log_says_why() {
    let memory = || Arc::new(MemoryFileSystem::new());
    let gone = Some("there is no directory /srv".to_owned());
    let export = |name, id, rules| Export::new(name, id, memory(), rules).with_gone(gone.clone());
    let exports = vec![export("/gone", 1, vec![ClientRule::default()]), export("/closed", 2, Vec::new())];
    let (service, log) = (Service::new(Exports::new(exports, [1; 16]).expect("exports")), Log::default());
    let mount = |path| {
        tracing::subscriber::with_default(log.clone(), || {
            result_of!(mnt::Reply, &service, &outsider(), number(1), &arguments(path))
                .map(drop)
                .expect_err("it is gone")
        })
    };
    assert_eq!(mount("/gone/below"), Status::NotFound);
    assert_eq!(mount("/closed"), Status::AccessDenied, "whom it is not for learns nothing");
    let wanted = (Level::INFO, "mount refused: there is no directory /srv".to_owned());
    assert_eq!(log.0.lock().first(), Some(&wanted));
    let list = result_of!(export::Reply, &service, &outsider(), number(export::PROCEDURE), &());
    assert_eq!(list.exports.len(), 1, "it is listed: it may come back");
}

#[test]
fn version_1_gives_no_handles() {
    let what = (wire::PROGRAM, wire::VERSION_1, mnt::PROCEDURE);
    let reply = result_of!(mnt::Reply1, &service(), &outsider(), what, &arguments("/open"));
    assert_eq!(reply, Err(Status::AccessDenied));
}

#[test]
fn mounts_are_listed_until_they_are_taken_back() {
    let service = service();
    let mounted = |peer: &Peer| {
        let list = result_of!(dump::Reply, &service, peer, number(dump::PROCEDURE), &());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        list.mounts.iter().map(|mount| text(mount.host.0) + " " + &text(mount.path.0)).collect::<Vec<_>>()
    };
    for (peer, path) in [(outsider(), "/open"), (outsider(), "/open/inner"), (insider(), "/closed/")] {
        result_of!(mnt::Reply, &service, &peer, number(1), &arguments(path)).expect("mounted");
    }
    result_of!(mnt::Reply, &service, &outsider(), number(1), &arguments("/closed")).expect_err("refused");
    assert_eq!(mounted(&insider()), ["198.51.100.9 /open", "198.51.100.9 /open/inner", "192.0.2.9 /closed"]);

    result_of!((), &service, &outsider(), number(umnt::PROCEDURE), &arguments("/open"));
    assert_eq!(mounted(&insider()), ["198.51.100.9 /open/inner", "192.0.2.9 /closed"]);
    result_of!((), &service, &outsider(), number(wire::UMNTALL), &());
    assert_eq!(mounted(&insider()), ["192.0.2.9 /closed"]);
}

#[test]
fn exports_are_listed_with_those_they_are_for() {
    let list = result_of!(export::Reply, &service(), &outsider(), number(export::PROCEDURE), &());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = list
        .exports
        .iter()
        .map(|line| (text(line.path.0), line.groups.iter().map(|group| text(group.0)).collect::<Vec<_>>()));
    let expected = [
        ("/open".to_owned(), vec![]),
        ("/closed".to_owned(), vec!["192.0.2.0/24".to_owned(), "203.0.113.5".to_owned()]),
    ];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}

#[test]
fn refusals_of_rpc_say_what_is_wrong() {
    let service = service();
    let outcome = |program, version, procedure| {
        let (header, rest) =
            call(&service, &outsider(), (program, version, procedure), &()).expect("an answer");
        assert!(rest.is_empty());
        header.outcome
    };
    assert_eq!(outcome(wire::PROGRAM, 2, 0), Ok(Accepted::ProgramMismatch { low: 1, high: 3 }));
    assert_eq!(outcome(wire::PROGRAM, 3, 6), Ok(Accepted::ProcedureUnavailable));
    assert_eq!(outcome(wire::PROGRAM, 3, 1), Ok(Accepted::GarbageArguments));
    assert_eq!(outcome(wire::PROGRAM, 1, 0), Ok(Accepted::Success));
    assert_eq!(outcome(wire::PROGRAM + 1, 3, 0), Ok(Accepted::ProgramUnavailable));
}

/// What the log says, as level and message.
#[derive(Default, Clone)]
struct Log(Arc<Mutex<Vec<(Level, String)>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("howdah_server::mount")
    }

    fn event(&self, event: &Event<'_>) {
        self.0.lock().push((*event.metadata().level(), Message::of(event)));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The message of an event.
#[derive(Default)]
struct Message(String);

impl Message {
    fn of(event: &Event<'_>) -> String {
        let mut message = Self::default();
        event.record(&mut message);
        message.0
    }
}

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

#[test]
fn the_log_tells_refusals_from_probes_and_grows_slowly() {
    let (service, log) = (service(), Log::default());
    let mount = |path: &str| {
        drop(result_of!(mnt::Reply, &service, &outsider(), number(1), &arguments(path)));
    };
    tracing::subscriber::with_default(log.clone(), || {
        mount("/open/absent");
        mount("/closed");
        for _ in 0..100 {
            mount("/open");
            result_of!((), &service, &outsider(), number(umnt::PROCEDURE), &arguments("/open"));
        }
    });
    let said = log.0.lock();
    let wanted = [
        (Level::DEBUG, "nothing to mount: there is no such directory"),
        (Level::INFO, "mount refused: permission denied"),
    ];
    for ((level, message), wanted) in said.iter().zip(wanted) {
        assert!(*level == wanted.0 && message.starts_with(wanted.1), "{level} {message}");
    }
    // Not in the words of the program.
    assert!(said.iter().all(|(_, message)| !message.contains("NoExport")), "{said:?}");
    let mounted = said.iter().filter(|(_, message)| message == "mounted").count();
    assert!((1..100).contains(&mounted), "{mounted}");
}
