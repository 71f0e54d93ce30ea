//! Changes by other processes of this host are noticed, and nobody else's.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use howdah_needs::{Lack, skipped};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, FileSystem, Handle, LocalChange, LocalChangeObserver, LocalChanges,
    Name, NewAttributes, WatchedNode,
};

const PATIENCE: Duration = Duration::from_secs(20);

struct Told {
    changes: Mutex<Sender<LocalChange>>,
    kept: Mutex<Vec<Handle>>,
}

impl LocalChangeObserver for Told {
    fn on_local_change(&self, change: LocalChange) {
        let _ = self.changes.lock().expect("no test failed").send(change);
    }

    fn keep_watched(&self, nodes: &[Handle]) -> Vec<bool> {
        let kept = self.kept.lock().expect("no test failed");
        nodes.iter().map(|node| kept.contains(node)).collect()
    }
}

struct Watched {
    place: tempfile::TempDir,
    fs: LocalFileSystem,
    told: Arc<Told>,
    changes: Receiver<LocalChange>,
}

impl Watched {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a directory");
        let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        let (sender, changes) = channel();
        let told = Arc::new(Told { changes: Mutex::new(sender), kept: Mutex::default() });
        Self { place, fs, told, changes }
    }

    fn watcher(&self) -> &dyn LocalChanges {
        self.fs.local_changes().expect("it is possible")
    }

    fn watch(&self, node: &Handle, has_children: bool) {
        let watched = WatchedNode { node, has_children };
        self.watcher().watch(watched, Arc::clone(&self.told) as _).expect("it is watched");
    }

    fn make(&self, text: &str) -> Handle {
        let (me, root, how) = (me(), self.fs.root(), Create::Guarded(NewAttributes::with_mode(0o644)));
        let name = Name::parse(text.as_bytes()).expect("a name");
        self.fs.create(&me, CreateFile::new(&root, name, &how), &mut Change::default()).expect("made").handle
    }

    /// Another process of this host does something in the directory.
    fn by_others(&self, script: &str) {
        assert!(by_others(self.place.path(), script), "{script}");
    }

    /// All that is told until a file of this name, which others make in the watched root, is.
    fn told_until_made(&self, text: &str) -> Vec<LocalChange> {
        self.by_others(&format!("mkdir {text}"));
        let mut told = Vec::new();
        loop {
            let change = self.changes.recv_timeout(PATIENCE).expect("it is told");
            if change == LocalChange::Of(self.fs.root()) {
                return told;
            }
            told.push(change);
        }
    }
}

fn by_others(place: &Path, script: &str) -> bool {
    Command::new("sh").args(["-c", script]).current_dir(place).status().is_ok_and(|status| status.success())
}

fn me() -> Caller {
    Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

/// Whether the kernel and the file system of temporary files are such as the server needs.
fn is_possible() -> bool {
    let obstacle = Watched::new().fs.local_changes_obstacle();
    if let Some(why) = obstacle {
        skipped(Lack::Kernel, format_args!("{why}"));
    }
    obstacle.is_none()
}

#[test]
fn what_others_change_is_told_and_not_what_we_change() {
    if !is_possible() {
        return;
    }
    let watched = Watched::new();
    watched.watch(&watched.fs.root(), false);
    watched.make("file");
    assert_eq!(watched.told_until_made("one"), [], "it is ours");
    watched.by_others("echo more >> file; chmod 600 file");
    assert_eq!(watched.told_until_made("two"), [], "files in it were not asked for");
    for change in ["touch new", "mv file new", "rm file", "chmod 711 .", "ln file link", "ln -s x y"] {
        let watched = Watched::new();
        watched.make("file");
        watched.watch(&watched.fs.root(), false);
        watched.by_others(change);
        let told = watched.changes.recv_timeout(PATIENCE);
        assert_eq!(told, Ok(LocalChange::Of(watched.fs.root())), "{change}");
    }
    for change in ["echo more >> file", "chmod 600 file", "touch file", "truncate -s 5 file", "rm file"] {
        let watched = Watched::new();
        let file = watched.make("file");
        watched.watch(&file, false);
        watched.by_others(change);
        assert_eq!(watched.changes.recv_timeout(PATIENCE), Ok(LocalChange::Of(file)), "{change}");
    }
}

#[test]
fn files_in_a_directory_are_watched_by_it() {
    if !is_possible() {
        return;
    }
    for change in ["echo more >> file", "chmod 600 file", "touch file"] {
        let watched = Watched::new();
        watched.make("file");
        watched.watch(&watched.fs.root(), true);
        watched.by_others(change);
        let told = watched.changes.recv_timeout(PATIENCE);
        assert_eq!(told, Ok(LocalChange::Of(watched.fs.root())), "{change}");
    }
}

#[test]
fn what_nobody_wants_is_watched_no_longer() {
    if !is_possible() {
        return;
    }
    let watched = Watched::new();
    let (root, file) = (watched.fs.root(), watched.make("file"));
    [&root, &file].into_iter().for_each(|node| watched.watch(node, false));
    watched.told.kept.lock().expect("no test failed").push(root);
    watched.watcher().tidy();
    assert_eq!(watched.watcher().count(), 2, "they are new");
    watched.watcher().tidy();
    assert!(watched.watcher().is_watched(&root) && !watched.watcher().is_watched(&file));
    watched.by_others("echo more >> file");
    assert_eq!(watched.told_until_made("one"), []);
    watched.told.kept.lock().expect("no test failed").clear();
    watched.watcher().tidy();
    assert!(!watched.watcher().is_watched(&root) && watched.watcher().count() == 0);
    watched.watch(&root, false);
    watched.by_others("touch new");
    assert_eq!(watched.changes.recv_timeout(PATIENCE), Ok(LocalChange::Of(root)));
}

#[test]
fn the_end_of_the_watch_is_told_as_any_change() {
    if !is_possible() {
        return;
    }
    let watched = Watched::new();
    watched.watch(&watched.fs.root(), false);
    let Watched { fs, changes, .. } = watched;
    drop(fs);
    assert_eq!(changes.recv_timeout(PATIENCE), Ok(LocalChange::Any));
}

#[test]
fn what_is_on_another_file_system_is_not_watched() {
    if !is_possible() {
        return;
    }
    let options = Options { cross_mounts: true, ..Options::default() };
    let Ok(fs) = LocalFileSystem::open(Path::new("/"), options) else { return };
    let Ok(found) = fs.lookup(&me(), &fs.root(), Name::parse(b"proc").expect("a name")) else { return };
    let told = Watched::new().told;
    let watched = WatchedNode { node: &found.node.handle, has_children: false };
    assert!(fs.local_changes().is_none_or(|changes| changes.watch(watched, told).is_err()));
}
