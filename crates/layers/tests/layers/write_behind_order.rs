//! The write-behind where answers come in another order than the server gave them: what callers see of a file is not older than
//! what they did.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread;

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, Detail, Entry, FileSystem, Found, Handle, ListDirectory,
    Listing, Name, NewAttributes, ReadFile, ReadOutcome, Result, SetAttributes, SetTime, Stability,
    WriteFile, Written,
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
        ReadFile { node, offset, count }: ReadFile<'_>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let answer = self.inner.read(caller, ReadFile { node, offset, count }, buffer);
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
    let node = fs
        .create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle;
    thread::scope(|scope| {
        let read = scope
            .spawn(|| fs.read(&ROOT, ReadFile::new(&node, 0, 10), &mut Vec::new()).expect("read").attributes);
        server.news.wait_while(&mut server.read.lock(), |read| read.0 == 0);
        let grown = NewAttributes { size: Some(1000), ..NewAttributes::default() };
        fs.set_attributes(&ROOT, SetAttributes::new(&node, &grown, None), &mut Change::default())
            .expect("set");
        server.read.lock().1 = true;
        server.news.notify_all();
        assert_eq!(read.join().expect("read").size, 10, "as the server said then");
    });
    let mut change = Change::default();
    fs.write(&ROOT, WriteFile::new(&node, 5, Data::Bytes(b"howdy"), Stability::Unstable), &mut change)
        .expect("taken");
    assert_eq!(change.after.map(|after| after.size), Some(1000));
}

/// A server that serves a WRITE after it served another call, and whose answer to that call comes when the test wants.
#[derive(Default)]
struct Crossed {
    inner: MemoryFileSystem,
    /// Whether the other call was served, and whether its answer may come.
    served: Mutex<(bool, bool)>,
    news: Condvar,
}

impl Crossed {
    /// The other call was served.
    fn answer<T>(&self, answer: T) -> T {
        let mut served = self.served.lock();
        served.0 = true;
        self.news.notify_all();
        self.news.wait_while(&mut served, |served| !served.1);
        answer
    }
}

impl Layer for Crossed {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.news.wait_while(&mut self.served.lock(), |served| !served.0);
        self.inner.write(caller, write, change)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.answer(self.inner.lookup(caller, directory, name))
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.answer(self.inner.set_attributes(caller, set, change))
    }

    fn read_directory(
        &self,
        caller: &Caller,
        ListDirectory { directory, cookie, detail }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let mut nodes = Vec::new();
        let listing =
            self.inner.read_directory(caller, ListDirectory { directory, cookie, detail }, &mut |entry| {
                nodes.push((entry.name.to_vec(), entry.file, entry.cookie, entry.node.copied()));
                ControlFlow::Continue(())
            });
        for (name, file, cookie, node) in self.answer(nodes) {
            let entry = Entry { name: &name, file, cookie, node: node.as_ref() };
            if sink(entry).is_break() {
                break;
            }
        }
        listing
    }
}

type Asks = fn(&dyn FileSystem, &Handle) -> Option<u64>;

/// Calls that return the size of the file, and change none.
const CALLS: [Asks; 3] = [
    |fs, _| {
        let name = Name::parse(b"file").expect("a name");
        Some(fs.lookup(&ROOT, &fs.root(), name).expect("found").node.attributes.size)
    },
    |fs, _| {
        let mut size = None;
        let mut sink = |entry: Entry<'_>| {
            size = entry.node.filter(|_| entry.name == b"file").map(|node| node.attributes.size).or(size);
            ControlFlow::Continue(())
        };
        fs.read_directory(&ROOT, ListDirectory::new(&fs.root(), 0, Detail::Nodes), &mut sink)
            .expect("listed");
        size
    },
    |fs, node| {
        let (new, mut change) =
            (NewAttributes { accessed: SetTime::Now, ..NewAttributes::default() }, Change::default());
        fs.set_attributes(&ROOT, SetAttributes::new(node, &new, None), &mut change).expect("set");
        change.after.map(|after| after.size)
    },
];

#[test]
fn an_answer_that_crossed_a_write_does_not_bring_the_old_size_back() {
    const BLOCK: usize = 4096;
    for (number, call) in CALLS.into_iter().enumerate() {
        let server = Arc::new(Crossed::default());
        let options = WriteBehindOptions { block: BLOCK, ..WriteBehindOptions::default() };
        let layer = WriteBehind::around(Arc::clone(&server) as _, options);
        let fs: &dyn FileSystem = &layer;
        let name = Name::parse(b"file").expect("a name");
        let how = Create::Guarded(NewAttributes::default());
        let node = fs
            .create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
            .expect("made")
            .handle;
        let mut change = Change::default();
        let data = Data::Bytes(&[1; BLOCK]);
        fs.write(&ROOT, WriteFile::new(&node, 0, data, Stability::Unstable), &mut change).expect("taken");
        let size = thread::scope(|scope| {
            let asked = scope.spawn(|| call(fs, &node));
            // Waits until the WRITE was answered.
            fs.read(&ROOT, ReadFile::new(&node, 0, 1), &mut Vec::new()).expect("read");
            server.served.lock().1 = true;
            server.news.notify_all();
            asked.join().expect("answered")
        });
        assert_eq!(size, Some(BLOCK as u64), "call {number}");
        // Nor is it remembered.
        let mut change = Change::default();
        fs.write(&ROOT, WriteFile::new(&node, 5, Data::Bytes(b"howdy"), Stability::Unstable), &mut change)
            .expect("taken");
        assert_eq!(change.after.map(|after| after.size), Some(BLOCK as u64), "call {number}");
    }
}
