//! A write-behind over a file system that loses what was not committed: what comes back is what was written last.

use std::sync::Arc;

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Create, CreateFile, Data, FileSystem, Handle, Name, NewAttributes, ReadFile,
    SetAttributes, Stability, WriteFile,
};

const ME: Caller = Caller::ROOT;

struct Stage {
    inside: Arc<MemoryFileSystem>,
    layer: WriteBehind,
    node: Handle,
}

fn stage() -> Stage {
    let inside = Arc::new(MemoryFileSystem::new());
    let options = WriteBehindOptions { block: 4, ..WriteBehindOptions::default() };
    let layer = WriteBehind::around(Arc::clone(&inside) as Arc<dyn FileSystem>, options);
    let how = Create::Guarded(NewAttributes::with_mode(0o600));
    let name = Name::parse(b"f").expect("a name");
    let made = layer.create(&ME, CreateFile::new(&layer.root(), name, &how), &mut Change::default());
    Stage { inside, node: made.expect("a file").handle, layer }
}

impl Stage {
    fn write(&self, offset: u64, data: &'static [u8], how: Stability) {
        let data = Data::Bytes(data);
        self.layer
            .write(&ME, WriteFile::new(&self.node, offset, data, how), &mut Change::default())
            .expect("written");
    }

    /// Waits until all data was written, though not committed.
    fn settle(&self) {
        self.layer.attributes(&ME, &self.node).expect("attributes");
    }

    fn truncate(&self, size: u64) {
        let new = NewAttributes::with_size(size);
        self.layer
            .set_attributes(&ME, SetAttributes::new(&self.node, &new, None), &mut Change::default())
            .expect("cut");
    }

    fn commit(&self) {
        self.layer.commit(&ME, CommitFile::new(&self.node, 0, 0), &mut Change::default()).expect("committed");
    }

    fn content(&self) -> String {
        let mut data = Vec::new();
        self.inside.read(&ME, ReadFile::new(&self.node, 0, 100), &mut data).expect("read");
        String::from_utf8(data).expect("text")
    }
}

#[test]
fn older_data_does_not_come_back_over_newer() {
    let stage = stage();
    stage.write(0, b"aaaabbbbcccc", Stability::Unstable);
    stage.settle();
    stage.inside.restart();
    stage.write(4, b"XXXX", Stability::Unstable);
    stage.commit();
    assert_eq!(stage.content(), "aaaaXXXXcccc");
    assert_eq!(stage.layer.report().held, 0);
}

#[test]
fn of_two_that_are_lost_the_newer_is_written_again() {
    let stage = stage();
    stage.write(0, b"aaaabbbbcccc", Stability::Unstable);
    stage.settle();
    stage.write(2, b"XXXX", Stability::Unstable);
    stage.settle();
    stage.inside.restart();
    stage.commit();
    assert_eq!(stage.content(), "aaXXXXbbcccc");
    assert_eq!(stage.layer.report().held, 0);
}

#[test]
fn a_durable_write_is_not_undone() {
    let stage = stage();
    stage.write(0, b"aaaabbbbcccc", Stability::Unstable);
    stage.settle();
    stage.inside.restart();
    stage.write(4, b"XXXX", Stability::FileSync);
    stage.commit();
    assert_eq!(stage.content(), "aaaaXXXXcccc");
}

#[test]
fn what_was_cut_off_does_not_come_back() {
    let stage = stage();
    stage.write(0, b"aaaabbbbcccc", Stability::Unstable);
    stage.truncate(6);
    stage.inside.restart();
    stage.write(0, b"XX", Stability::Unstable);
    stage.commit();
    assert_eq!(stage.content(), "XXaabb");
    assert_eq!(stage.layer.report().held, 0);
}
