//! Copies to a destination that makes small files whole by one call each.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use howdah_copy::CopyOptions;
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FileSystem, FsError, Handle, NewAttributes, PutFile, Result,
    SetAttributes, WholeFiles, WriteFile,
};

use crate::copying::random::{Random, seed};
use crate::copying::tree::{Files, grow};
use crate::copying::trouble::Meddled;
use crate::copying::{copy, options};

fn memory() -> Files {
    Files(Arc::new(MemoryFileSystem::new()))
}

/// Makes whole files by the calls that this stands for.
#[derive(Default)]
struct Whole {
    inner: MemoryFileSystem,
    /// Stops behind the data.
    refuses: AtomicBool,
    asked: AtomicU32,
}

impl Layer for Whole {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn whole_files(&self) -> Option<&dyn WholeFiles> {
        Some(self)
    }
}

impl WholeFiles for Whole {
    fn put_file(&self, caller: &Caller, put: PutFile<'_>) -> Result<Handle> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let change = &mut Change::default();
        let how = Create::Guarded(NewAttributes::with_mode(0o600));
        let files: &dyn FileSystem = &self.inner;
        let create = CreateFile::new(put.directory, put.partial, &how);
        let file = files.create(caller, create, change)?.handle;
        let data = Data::Bytes(put.data);
        let written = files.write(caller, WriteFile::new(&file, 0, data, put.stability), change)?;
        assert_eq!(written.count, put.data.len());
        if self.refuses.load(Ordering::SeqCst) {
            return Err(FsError::NotSupported);
        }
        files.set_attributes(caller, SetAttributes::new(&file, put.new, None), change)?;
        let (from, to) = ((put.directory, put.partial), (put.directory, put.name));
        files.rename(caller, from, to, (&mut Change::default(), change))?;
        Ok(file)
    }
}

/// Copies a tree of small files. Returns how many files arrived, and how many whole-file calls were made.
fn copied(refuses: bool, options: CopyOptions) -> (u64, u32) {
    let mut random = Random::new(seed("a_tree_of_small_files"));
    let (from, whole) = (memory(), Arc::new(Whole::default()));
    whole.refuses.store(refuses, Ordering::SeqCst);
    let to = Files(Arc::clone(&whole) as _);
    let top = from.directory(&from.root().handle, "top");
    grow(&from, &top, 80, 40_000, &mut random);
    let (outcome, heard) = copy(&from, top, &to, "copy", options);
    assert_eq!(outcome.figures.errors, 0, "{:#?}", heard.all());
    assert_eq!(to.see(&to.at("copy")), from.see(&top), "{:#?}", heard.all());
    (outcome.figures.files, whole.asked.load(Ordering::SeqCst))
}

#[test]
fn small_files_are_made_whole_and_arrive_as_others_do() {
    let (files, asked) = copied(false, options());
    // Files with holes go the usual way.
    assert!(asked > 10 && u64::from(asked) <= files, "{asked} of {files}");
    assert_eq!(copied(false, CopyOptions { verify: true, ..options() }).1, 0, "they are read back first");
}

#[test]
fn a_destination_that_refuses_is_asked_a_few_times() {
    let (files, asked) = copied(true, CopyOptions { jobs: Some(1), ..options() });
    assert!(asked < 10 && files > 20, "{asked} of {files}");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_begun_again() {
    let inner = memory();
    let root = inner.root().handle;
    let file = inner.file(&root, "f", 3, &[(0, b"old".to_vec())]);
    inner.set_time(&file.handle, 1000, 0);
    let writing = inner.clone();
    let meddle = Box::new(move || writing.overwrite(&file.handle, b"new"));
    let (call, is_done) = (Call::Read, Mutex::new(false));
    let from = Files(Arc::new(Meddled { inner: Arc::clone(&inner.0), call, before: true, meddle, is_done }));
    let whole = Arc::new(Whole::default());
    let to = Files(Arc::clone(&whole) as _);
    let (outcome, heard) = copy(&from, inner.look(&root, "f").expect("there"), &to, "f", options());
    assert_eq!((outcome.figures.files, outcome.figures.errors), (1, 0), "{:?}", heard.all());
    assert_eq!(to.content(&to.at("f")), b"new");
    assert_eq!(to.at("f").attributes.modified, inner.at("f").attributes.modified);
    assert_eq!(whole.asked.load(Ordering::SeqCst), 0, "what was read is not what was listed");
}
