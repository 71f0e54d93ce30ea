//! The destination of an ordinary user, whose own directories may forbid the user to write: a copy of Go's module cache, of an archive.
//! Such a directory is made writable when a call needs it, and has its mode again at the end.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    AddLink, Attributes, Caller, Change, CreateFile, Entry, FileKind, FileSystem, Found, FsError, Handle,
    ListDirectory, Listing, MakeDirectory, MakeLink, MakeSpecial, Name, NewAttributes, Node, Result,
    SetAttributes, WholeFiles,
};
use parking_lot::Mutex;

use super::crew::Crew;

/// What the owner of a directory needs to work in it.
const NEEDED: u32 = 0o700;

/// Makes directories writable for their owner when a call is refused, and remembers their modes.
pub(super) struct Unlocked {
    inner: Arc<dyn FileSystem>,
    /// Directories in which a call was refused. Each has a lock of its own, so that no call waits for another directory's.
    refused: Mutex<HashMap<Handle, Arc<Mutex<ModeLock>>>>,
}

/// What is known of a directory in which a call was refused.
#[derive(Default)]
enum ModeLock {
    /// Nothing yet.
    #[default]
    Unknown,
    /// It was made writable; this is the mode that it had.
    Opened(u32),
    /// It is another user's, or its mode forbids nothing.
    NotOurs,
}

impl Unlocked {
    pub(super) fn around(inner: Arc<dyn FileSystem>) -> Self {
        Self { inner, refused: Mutex::default() }
    }

    /// Gives each directory the mode that it had; says whether all have it. One that is gone needs none.
    pub(super) fn give_modes_back(&self, caller: &Caller, crew: &Crew) -> bool {
        let refused = std::mem::take(&mut *self.refused.lock());
        let opened = refused.into_iter().filter_map(|(directory, lock)| match *lock.lock() {
            ModeLock::Opened(mode) => Some((directory, mode)),
            ModeLock::Unknown | ModeLock::NotOurs => None,
        });
        crew.all(opened.collect(), |(directory, mode)| {
            let new = NewAttributes::with_mode(mode);
            let set = self.inner.set_attributes(
                caller,
                SetAttributes::new(&directory, &new, None),
                &mut Change::default(),
            );
            matches!(set, Ok(()) | Err(FsError::Stale | FsError::NotFound))
        })
    }

    /// Makes a call that needs these directories, and once more if their modes refused it.
    fn with<T>(
        &self,
        caller: &Caller,
        directories: &[&Handle],
        mut call: impl FnMut(&dyn FileSystem) -> Result<T>,
    ) -> Result<T> {
        match call(&*self.inner) {
            Err(FsError::AccessDenied) if self.unlock_any(caller, directories) => call(&*self.inner),
            outcome => outcome,
        }
    }

    /// Makes those writable that are not; says whether one was made so, by this call or by another one meanwhile.
    fn unlock_any(&self, caller: &Caller, directories: &[&Handle]) -> bool {
        let mut any = false;
        for directory in directories {
            any |= self.unlock(caller, directory);
        }
        any
    }

    fn unlock(&self, caller: &Caller, directory: &Handle) -> bool {
        let lock = Arc::clone(self.refused.lock().entry(*directory).or_default());
        // Two calls must not take each other's mode for the one that was there.
        let mut lock = lock.lock();
        if matches!(*lock, ModeLock::Unknown) {
            *lock = self.try_unlock(caller, directory);
        }
        matches!(*lock, ModeLock::Opened(_))
    }

    fn try_unlock(&self, caller: &Caller, directory: &Handle) -> ModeLock {
        let Ok(now) = self.inner.attributes(caller, directory) else { return ModeLock::Unknown };
        let is_locked = now.kind == FileKind::Directory && now.mode & NEEDED != NEEDED;
        if !is_locked || now.user != caller.user {
            return ModeLock::NotOurs;
        }
        let new = NewAttributes::with_mode(now.mode | NEEDED);
        match self.inner.set_attributes(
            caller,
            SetAttributes::new(directory, &new, None),
            &mut Change::default(),
        ) {
            Ok(()) => ModeLock::Opened(now.mode),
            Err(_) => ModeLock::Unknown,
        }
    }
}

impl Layer for Unlocked {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    /// What is refused for the mode of its directory is tried again by single calls.
    fn whole_files(&self) -> Option<&dyn WholeFiles> {
        self.inner.whole_files()
    }

    /// A directory that gets its final mode is not given another one at the end.
    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.inner.set_attributes(caller, set, change)?;
        if set.new.mode.is_some() {
            self.refused.lock().remove(set.node);
        }
        Ok(())
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.with(caller, &[directory], |inner| inner.lookup(caller, directory, name))
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        self.with(caller, &[list.directory], |inner| inner.read_directory(caller, list, sink))
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        self.with(caller, &[create.directory], |inner| inner.create(caller, create, change))
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        self.with(caller, &[make.directory], |inner| inner.make_directory(caller, make, change))
    }

    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node> {
        self.with(caller, &[make.directory], |inner| inner.make_link(caller, make, change))
    }

    fn make_special(&self, caller: &Caller, make: MakeSpecial<'_>, change: &mut Change) -> Result<Node> {
        self.with(caller, &[make.directory], |inner| inner.make_special(caller, make, change))
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.with(caller, &[directory], |inner| inner.remove(caller, directory, name, change))
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.with(caller, &[directory], |inner| inner.remove_directory(caller, directory, name, change))
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        let (left, entered) = changes;
        self.with(caller, &[from.0, to.0], |inner| inner.rename(caller, from, to, (left, entered)))
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        self.with(caller, &[link.directory], |inner| inner.link(caller, link, change))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    const USER: u32 = 1000;

    fn user() -> Caller {
        Caller::new(USER, USER)
    }

    fn name(text: &str) -> Name<'_> {
        Name::parse(text.as_bytes()).expect("a name")
    }

    /// Two directories of a user.
    fn directories(memory: &MemoryFileSystem, user: u32, mode: u32) -> [Handle; 2] {
        ["one", "other"].map(|called| {
            let (new, change) = (NewAttributes::with_mode(mode), &mut Change::default());
            let made = memory.make_directory(
                &Caller::ROOT,
                MakeDirectory::new(&memory.root(), name(called), &new),
                change,
            );
            let (made, owner) = (made.expect("made").handle, NewAttributes { user: Some(user), ..new });
            memory
                .set_attributes(&Caller::ROOT, SetAttributes::new(&made, &owner, None), change)
                .expect("set");
            made
        })
    }

    fn make(files: &Unlocked, directory: &Handle, called: &str) -> Result<Node> {
        let new = NewAttributes::with_mode(0o755);
        FileSystem::make_directory(
            files,
            &user(),
            MakeDirectory::new(directory, name(called), &new),
            &mut Change::default(),
        )
    }

    /// Lets a mode be set when another one is set at the same time; counts what is asked.
    struct InPairs {
        memory: Arc<MemoryFileSystem>,
        pair: Barrier,
        asked: AtomicU32,
    }

    impl Layer for InPairs {
        fn inner(&self) -> &dyn FileSystem {
            &*self.memory
        }

        fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
            match call {
                Call::SetAttributes => _ = self.pair.wait(),
                Call::Attributes => _ = self.asked.fetch_add(1, Ordering::Relaxed),
                _ => {}
            }
            run(&*self.memory)
        }
    }

    fn in_pairs(memory: &Arc<MemoryFileSystem>) -> Arc<InPairs> {
        let (memory, asked) = (Arc::clone(memory), AtomicU32::new(0));
        Arc::new(InPairs { memory, pair: Barrier::new(2), asked })
    }

    /// One after the other they would wait for ever.
    #[test]
    fn two_directories_are_opened_and_closed_at_the_same_time() {
        let memory = Arc::new(MemoryFileSystem::new());
        let both = directories(&memory, USER, 0o555);
        let files = Unlocked::around(in_pairs(&memory));
        std::thread::scope(|scope| {
            for directory in &both {
                scope.spawn(|| make(&files, directory, "x").expect("made"));
            }
        });
        assert!(files.give_modes_back(&user(), &Crew::new(2)));
        for directory in &both {
            assert_eq!(memory.attributes(&Caller::ROOT, directory).expect("there").mode, 0o555);
        }
    }

    #[test]
    fn a_directory_of_another_user_is_asked_for_its_mode_once() {
        let memory = Arc::new(MemoryFileSystem::new());
        let [directory, _] = directories(&memory, USER + 1, 0o555);
        let counting = in_pairs(&memory);
        let files = Unlocked::around(Arc::clone(&counting) as _);
        for called in ["x", "y", "z"] {
            assert_eq!(make(&files, &directory, called), Err(FsError::AccessDenied));
        }
        assert_eq!(counting.asked.load(Ordering::Relaxed), 1);
    }
}
