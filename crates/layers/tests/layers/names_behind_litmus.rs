//! The litmus list of names written behind on the layer, with every cut between two calls. Bugs that are planted are found by it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use howdah_layers::{BehindOptions, CachingOptions, NamesBehind};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    Caller, Change, Consistency, CreateFile, Data, FileSystem, Handle, Name, NewAttributes, Node, Result,
    SetAttributes, Stability, WriteFile, Written,
};
use parking_lot::Mutex;

use crate::behind::client::{Client, Clock};
use crate::litmus::case::{Case, Operation, Who, cases};
use crate::litmus::play::{Programs, Scope, play};
use crate::litmus::server::LitmusServer;
use crate::litmus::tree::{change, node};

const ME: Caller = Caller::ROOT;
/// Each with other delays, so that calls reach the server in another order.
const ROUNDS: u64 = 5;

fn other() -> Caller {
    Caller::new(1000, 1000)
}

/// Programs that call the layer.
struct OnLayer {
    files: NamesBehind,
    opened: HashMap<String, Handle>,
    clock: Clock,
    bug: Option<ClientBug>,
}

/// Takes a rule away from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientBug {
    /// Names change for another user than the one who makes files: what was made before does not hold them back.
    NoOrder,
    /// No directory is careful for long.
    NotCareful,
}

impl OnLayer {
    /// A client that has learnt how the server makes nodes.
    fn new(server: Arc<dyn FileSystem>, bug: Option<ClientBug>) -> Self {
        let clock = Clock::new();
        let open = NewAttributes::with_mode(0o777);
        let root = server.root();
        let set = SetAttributes::new(&root, &open, None);
        server.set_attributes(&ME, set, &mut Default::default()).expect("set");
        // A file is sent when it is closed, and not before.
        let options = BehindOptions { gather: Duration::from_secs(3600), ..BehindOptions::default() };
        let files = Client::layer(server, CachingOptions::default(), options, &clock);
        Client::new(&files, ME).learn();
        Client::new(&files, other()).learn();
        Self { files, opened: HashMap::new(), clock, bug }
    }

    fn operate(&mut self, caller: &Caller, operation: &Operation) -> Result<()> {
        match operation {
            Operation::Close(path) => {
                let file = self.opened.remove(path).expect("it was opened");
                return self.files.closed(caller, &file).map(drop);
            }
            Operation::Fsync(path) => {
                let file = node(&self.files, caller, path)?;
                return self.files.synced(caller, &file).map(drop);
            }
            Operation::Sync(path) if path == "." => return self.files.synced_all(),
            Operation::Sync(path) => {
                let directory = node(&self.files, caller, path)?;
                return self.files.synced_directory(caller, &directory);
            }
            _ => {}
        }
        let wrote = change(&self.files, caller, operation, Stability::Unstable)?;
        match (wrote, operation) {
            (Some(file), Operation::Hold(path, _)) => _ = self.opened.insert(path.clone(), file),
            (Some(file), _) => _ = self.files.closed(caller, &file)?,
            (None, _) => {}
        }
        Ok(())
    }
}

impl Programs for OnLayer {
    fn run(&mut self, who: Who, operation: &Operation) -> std::result::Result<(), String> {
        let takes = matches!(operation, Operation::Rename(..) | Operation::Remove(_) | Operation::Rmdir(_));
        let is_other = who == Who::Other || takes && self.bug == Some(ClientBug::NoOrder);
        let caller = if is_other { other() } else { ME };
        self.operate(&caller, operation).map_err(|error| error.to_string())
    }

    fn settle(&mut self) {
        self.files.settle_all();
        if self.bug == Some(ClientBug::NotCareful) {
            self.clock.put_forward(Duration::from_secs(100));
        }
    }
}

fn play_on_layer(case: &Case, seed: u64) -> std::result::Result<(), String> {
    let server = Arc::new(LitmusServer::new(seed));
    play(case, &server, Scope::EveryCut, || OnLayer::new(Arc::clone(&server) as _, None))
}

/// A server that does a call at another time than it says.
struct Buggy {
    inner: Arc<dyn FileSystem>,
    bug: ServerBug,
    late: Mutex<Vec<Late>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerBug {
    /// A removal is done when the name was made again, as if it had been sent after that.
    LateUnlink,
    /// Data counts as safe before it is there.
    EarlyReply,
}

enum Late {
    Removal(Handle, Vec<u8>),
    Data(Handle, Vec<u8>),
}

impl Buggy {
    fn catch_up(&self) {
        for late in std::mem::take(&mut *self.late.lock()) {
            let note = &mut Change::default();
            let done = match &late {
                Late::Removal(directory, name) => {
                    self.inner.remove(&ME, directory, Name::parse(name).expect("a name"), note)
                }
                Late::Data(file, data) => {
                    let write = WriteFile::new(file, 0, Data::Bytes(data), Stability::FileSync);
                    self.inner.write(&ME, write, note).map(drop)
                }
            };
            // What is gone by then cannot be done.
            let _ = done;
        }
    }
}

impl Layer for Buggy {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        let is_it = |late: &Late| matches!(late, Late::Removal(_, name) if name == create.name.as_bytes());
        if self.late.lock().iter().any(is_it) {
            self.inner.remove(caller, create.directory, create.name, change)?;
        }
        self.inner.create(caller, create, change)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        if self.bug == ServerBug::EarlyReply {
            let WriteFile { node, mut data, .. } = write;
            let data = data.bytes().expect("in memory").to_vec();
            let (count, stability) = (data.len(), Stability::FileSync);
            self.late.lock().push(Late::Data(*node, data));
            return Ok(Written { count, stability, verifier: [0; 8] });
        }
        let written = self.inner.write(caller, write, change)?;
        self.catch_up();
        Ok(written)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        if self.bug != ServerBug::LateUnlink {
            return self.inner.remove(caller, directory, name, change);
        }
        self.late.lock().push(Late::Removal(*directory, name.as_bytes().to_vec()));
        Ok(())
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.inner.rename(caller, from, to, changes)?;
        self.catch_up();
        Ok(())
    }
}

/// Whether a case fails for what it says of the server, in one of many rounds.
fn finds(name: &str, client: impl Fn(&Arc<LitmusServer>) -> OnLayer) -> bool {
    let cases = cases();
    let case = cases.iter().find(|case| case.name == name).expect("it is in the list");
    (0..2_000).any(|seed| {
        let server = Arc::new(LitmusServer::new(seed));
        play(case, &server, Scope::EveryCut, || client(&server)).is_err()
    })
}

#[test]
fn names_that_wait_for_nothing_are_found() {
    for name in [
        "a marker that is renamed comes after all that was made before",
        "an original goes when its copy is there",
        "a tree is removed when its copy is there",
    ] {
        let client =
            |server: &Arc<LitmusServer>| OnLayer::new(Arc::clone(server) as _, Some(ClientBug::NoOrder));
        assert!(finds(name, client), "{name}");
    }
}

#[test]
fn a_directory_that_is_not_careful_is_found() {
    let client =
        |server: &Arc<LitmusServer>| OnLayer::new(Arc::clone(server) as _, Some(ClientBug::NotCareful));
    assert!(finds("after a refusal the next change in the directory is refused at once", client));
}

#[test]
fn a_server_that_does_it_later_is_found() {
    for (bug, name) in [
        (ServerBug::LateUnlink, "a name that is removed and made again is the new file"),
        (ServerBug::EarlyReply, "a message in a maildir is whole where readers look"),
    ] {
        let client = |server: &Arc<LitmusServer>| {
            let buggy = Buggy { inner: Arc::clone(server) as _, bug, late: Mutex::default() };
            OnLayer::new(Arc::new(buggy), None)
        };
        assert!(finds(name, client), "{bug:?}");
    }
}

#[test]
fn every_case_holds_whatever_is_cut_off_when() {
    let mut failures = Vec::new();
    for case in cases() {
        let outcome = (0..ROUNDS).try_for_each(|seed| {
            play_on_layer(&case, seed).map_err(|why| format!("case {}, seed {seed}: {why}", case.name))
        });
        failures.extend(outcome.err());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
