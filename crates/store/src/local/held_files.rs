//! Files that clients of NFSv4 have open: each has a descriptor, so that it is served although its last name goes. It keeps the
//! node and nothing else: it neither reads nor writes, so programs run and leases are given as if it were not there.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use howdah_vfs::{Handle, KeptOpen};
use parking_lot::RwLock;
use rustix::fs::{OFlags, fstat};

use super::cache::NodeCache;
use super::node::Node;
use super::tree::Tree;

/// One in so many descriptors that a directory may have may be held so.
const SHARE: usize = 4;

/// The descriptors.
pub(super) struct HeldFiles {
    files: RwLock<HashMap<Handle, Held>>,
    nodes: Arc<NodeCache>,
}

struct Held {
    path: OwnedFd,
    /// How many have the file open.
    opens: usize,
}

/// One that has a file open.
struct Holder {
    files: Arc<HeldFiles>,
    file: Handle,
}

impl HeldFiles {
    pub(super) fn new(nodes: &Arc<NodeCache>) -> Arc<Self> {
        Arc::new(Self { files: RwLock::default(), nodes: Arc::clone(nodes) })
    }

    /// Holds a file until what is returned is dropped. `None` if there are too many, or no descriptor is to be had: then the file is
    /// served as long as it has a name.
    pub(super) fn hold(self: &Arc<Self>, tree: &Tree, node: &Node) -> Option<KeptOpen> {
        if !self.add(&node.handle) {
            if self.files.read().len() >= self.nodes.most() / SHARE {
                return None;
            }
            let path = tree.reopen(node.descriptor(), OFlags::PATH).ok()?;
            self.nodes.count(1);
            let (mut path, mut files) = (Some(path), self.files.write());
            let held = files.entry(node.handle);
            let held =
                held.or_insert_with(|| Held { path: path.take().expect("it is there once"), opens: 0 });
            held.opens += 1;
            drop(files);
            if path.is_some() {
                // Another call was faster.
                self.nodes.count(-1);
            }
        }
        Some(Arc::new(Holder { files: Arc::clone(self), file: node.handle }))
    }

    fn add(&self, file: &Handle) -> bool {
        self.files.write().get_mut(file).map(|held| held.opens += 1).is_some()
    }

    /// Whether a file is held.
    pub(super) fn has(&self, file: &Handle) -> bool {
        self.files.read().contains_key(file)
    }

    /// A descriptor that leads to a file that is held.
    pub(super) fn find(&self, file: &Handle) -> Option<OwnedFd> {
        rustix::io::fcntl_dupfd_cloexec(&self.files.read().get(file)?.path, 0).ok()
    }

    fn release(&self, file: &Handle) {
        let gone = {
            let mut files = self.files.write();
            let Some(held) = files.get_mut(file) else { return };
            held.opens = held.opens.saturating_sub(1);
            if held.opens > 0 {
                return;
            }
            files.remove(file)
        };
        self.nodes.count(-1);
        // Its space is wanted now, and not when the cache closes what nobody uses.
        if gone.is_some_and(|held| fstat(&held.path).is_ok_and(|stat| stat.st_nlink == 0)) {
            self.nodes.forget(file);
        }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.files.release(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use howdah_vfs::{
        Caller, Change, CommitFile, Data, FileSystem, FsError, Name, NewAttributes, ReadFile, SetAttributes,
        Stability, WriteFile,
    };

    use super::*;
    use crate::local::{LocalFileSystem, Options};

    fn name(text: &str) -> Name<'_> {
        Name::parse(text.as_bytes()).expect("a name")
    }

    fn me() -> Caller {
        Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
    }

    fn opened(open_files: usize) -> (tempfile::TempDir, LocalFileSystem) {
        let place = tempfile::tempdir().expect("a directory");
        let options = Options { open_files, ..Options::default() };
        let fs = LocalFileSystem::open(place.path(), options).expect("it opens");
        (place, fs)
    }

    fn node(fs: &LocalFileSystem, text: &str) -> Handle {
        fs.lookup(&me(), &fs.root(), name(text)).expect("LOOKUP").node.handle
    }

    fn read(fs: &LocalFileSystem, file: &Handle) -> howdah_vfs::Result<Vec<u8>> {
        let mut buffer = Vec::new();
        fs.read(&me(), ReadFile::new(file, 0, 100), &mut buffer)?.copied(&mut buffer)?;
        Ok(buffer)
    }

    type Way = fn(&LocalFileSystem, &Path);

    /// The ways by which a file loses its last name: by clients, and by processes of this host.
    fn ways() -> [(&'static str, Way); 4] {
        [
            ("removed by a client", |fs, _| {
                fs.remove(&me(), &fs.root(), name("f"), &mut Change::default()).expect("REMOVE");
            }),
            ("replaced by a client", |fs, _| {
                let changes = (&mut Change::default(), &mut Change::default());
                let root = fs.root();
                fs.rename(&me(), (&root, name("new")), (&root, name("f")), changes).expect("RENAME");
            }),
            ("removed here", |_, place| std::fs::remove_file(place.join("f")).expect("removed")),
            ("replaced here", |_, place| std::fs::rename(place.join("new"), place.join("f")).expect("moved")),
        ]
    }

    #[test]
    fn an_open_file_is_served_until_it_is_closed() {
        for (way, lose) in ways() {
            let (place, fs) = opened(1_000);
            std::fs::write(place.path().join("f"), b"data").expect("written");
            std::fs::write(place.path().join("new"), b"new").expect("written");
            let file = node(&fs, "f");
            let kept = [(); 2].map(|()| fs.keep_open(&file).expect(way));
            lose(&fs, place.path());
            for cached in [true, false] {
                if !cached {
                    fs.let_go();
                }
                assert_eq!(fs.attributes(&me(), &file).map(|found| found.links), Ok(0), "{way}");
                assert_eq!(read(&fs, &file).as_deref(), Ok(&b"data"[..]), "{way}");
            }
            let mut change = Change::default();
            fs.write(&me(), WriteFile::new(&file, 4, Data::Bytes(b"!"), Stability::FileSync), &mut change)
                .expect(way);
            fs.set_attributes(
                &me(),
                SetAttributes::new(&file, &NewAttributes::with_mode(0o600), None),
                &mut change,
            )
            .expect(way);
            fs.commit(&me(), CommitFile::new(&file, 0, 0), &mut change).expect(way);
            assert_eq!(read(&fs, &file).as_deref(), Ok(&b"data!"[..]), "{way}");
            let [first, second] = kept;
            drop(first);
            assert!(read(&fs, &file).is_ok(), "{way}: another has it open");
            drop(second);
            assert_eq!(read(&fs, &file), Err(FsError::Stale), "{way}");
            assert!(!fs.nodes().held().has(&file));
        }
    }

    #[test]
    fn a_removed_file_keeps_its_space_no_longer_than_it_is_open() {
        let (place, fs) = opened(1_000);
        std::fs::write(place.path().join("f"), b"data").expect("written");
        let (file, node) = (std::fs::File::open(place.path().join("f")).expect("opened"), node(&fs, "f"));
        let kept = fs.keep_open(&node).expect("held");
        fs.remove(&me(), &fs.root(), name("f"), &mut Change::default()).expect("REMOVE");
        read(&fs, &node).expect("it is open");
        drop(kept);
        assert_eq!(file.metadata().expect("it is open here").nlink(), 0);
        assert!(fs.nodes().cache().get(&node).is_none(), "the cache does not keep it");
    }

    #[test]
    fn no_more_files_are_held_than_there_is_room_for() {
        let (place, fs) = opened(40);
        let most = fs.nodes().cache().most() / SHARE;
        let names: Vec<_> = (0..2 * most).map(|number| format!("{number}")).collect();
        let held: Vec<_> = names
            .iter()
            .map(|text| {
                std::fs::write(place.path().join(text), b"").expect("written");
                fs.keep_open(&node(&fs, text))
            })
            .collect();
        assert_eq!(held.iter().flatten().count(), most);
        drop(held);
        assert!(fs.nodes().held().files.read().is_empty());
        assert!(fs.keep_open(&node(&fs, "0")).is_some(), "there is room again");
    }
}
