//! The write-behind where answers come in another order than the server gave them: what is told of a file is not older than what its
//! caller did.

use std::sync::Arc;
use std::thread;

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, Data, FileSystem, Handle, Name, NewAttributes, ReadOutcome, Result, Stability,
};
use parking_lot::{Condvar, Mutex};

const ROOT: Caller = Caller::ROOT;

/// A server whose answer to a READ takes as long as the test wants.
#[derive(Default)]
struct Slow {
    inner: MemoryFileSystem,
    /// READs that were answered and whose answers have not come, and whether they may.
    read: Mutex<(usize, bool)>,
    news: Condvar,
}

impl Layer for Slow {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn read(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let answer = self.inner.read(caller, node, offset, count, buffer);
        let mut read = self.read.lock();
        read.0 += 1;
        self.news.notify_all();
        self.news.wait_while(&mut read, |read| !read.1);
        answer
    }
}

#[test]
fn a_read_that_crossed_a_change_of_size_does_not_bring_the_old_size_back() {
    let server = Arc::new(Slow::default());
    let options = WriteBehindOptions { block: 4096, ..WriteBehindOptions::default() };
    let layer = WriteBehind::around(Arc::clone(&server) as _, options);
    let fs: &dyn FileSystem = &layer;
    let name = Name::parse(b"file").expect("a name");
    let how = Create::Guarded(NewAttributes { size: Some(10), ..NewAttributes::default() });
    let node = fs.create(&ROOT, &fs.root(), name, &how, &mut Change::default()).expect("made").handle;
    thread::scope(|scope| {
        let read = scope.spawn(|| fs.read(&ROOT, &node, 0, 10, &mut Vec::new()).expect("read").attributes);
        server.news.wait_while(&mut server.read.lock(), |read| read.0 == 0);
        let grown = NewAttributes { size: Some(1000), ..NewAttributes::default() };
        fs.set_attributes(&ROOT, &node, &grown, None, &mut Change::default()).expect("set");
        server.read.lock().1 = true;
        server.news.notify_all();
        assert_eq!(read.join().expect("read").size, 10, "as the server said then");
    });
    let mut change = Change::default();
    fs.write(&ROOT, &node, 5, Data::Bytes(b"howdy"), Stability::Unstable, &mut change).expect("taken");
    assert_eq!(change.after.map(|after| after.size), Some(1000));
}
