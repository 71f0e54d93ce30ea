//! The write-behind when the server fails COMMITs of one file: its writers get the error, and other files go on.

use std::sync::{Arc, OnceLock};

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Committed, Create, Data, FileSystem, FsError, Handle, Name, NewAttributes, Result,
    Stability,
};

const ME: Caller = Caller::ROOT;
const BLOCK: usize = 4096;

/// A server that cannot make one file durable.
#[derive(Default)]
struct Refusing {
    inner: MemoryFileSystem,
    file: OnceLock<Handle>,
}

impl Layer for Refusing {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn commit(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: u64,
        change: &mut Change,
    ) -> Result<Committed> {
        match self.file.get() == Some(node) {
            true => Err(FsError::Io),
            false => self.inner.commit(caller, node, offset, count, change),
        }
    }
}

#[test]
fn a_file_that_cannot_be_made_durable_keeps_no_other_from_being_written_and_its_writer_is_told() {
    let server = Arc::new(Refusing::default());
    let options =
        WriteBehindOptions { block: BLOCK, memory_budget: 8 * BLOCK, ..WriteBehindOptions::default() };
    let layer = WriteBehind::around(Arc::clone(&server) as _, options);
    let fs: &dyn FileSystem = &layer;
    let create = |name: &[u8]| {
        let name = Name::parse(name).expect("a name");
        let how = Create::Guarded(NewAttributes::default());
        fs.create(&ME, &fs.root(), name, &how, &mut Change::default()).expect("made").handle
    };
    let write = |node: &Handle, block: usize| {
        let (data, offset) = (Data::Bytes(&[1; BLOCK]), (block * BLOCK) as u64);
        fs.write(&ME, node, offset, data, Stability::Unstable, &mut Change::default()).map(|_| ())
    };
    let (refused, other) = (create(b"refused"), create(b"other"));
    server.file.set(refused).expect("once");
    (0..7).for_each(|block| write(&refused, block).expect("taken"));
    for block in 0..64 {
        write(&other, block).expect("taken");
        let held = layer.report().held;
        assert!(held <= 9 * BLOCK, "{held} bytes");
    }
    fs.commit(&ME, &other, 0, 0, &mut Change::default()).expect("committed");
    assert_eq!(write(&refused, 0), Err(FsError::Io), "told by the next write");
    assert_eq!(write(&refused, 0), Ok(()), "and once");
}
