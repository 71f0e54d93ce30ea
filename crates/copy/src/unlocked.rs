//! The destination of an ordinary user, whose own directories may forbid the user to write: a copy of Go's module cache, of an archive.
//! Such a directory is made writable when a call needs it, and has its mode again at the end.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::{
    Attributes, Caller, Change, Create, Detail, Entry, FileKind, FileSystem, Found, FsError, Handle, Listing,
    Name, NewAttributes, Node, Result, SpecialKind, Timestamp,
};
use parking_lot::Mutex;

/// What the owner of a directory needs to work in it.
const NEEDED: u32 = 0o700;

/// Makes directories writable for their owner when a call is refused, and remembers their modes.
pub(super) struct Unlocked {
    inner: Arc<dyn FileSystem>,
    /// The modes that directories had.
    modes: Mutex<HashMap<Handle, u32>>,
}

impl Unlocked {
    pub(super) fn around(inner: Arc<dyn FileSystem>) -> Self {
        Self { inner, modes: Mutex::default() }
    }

    /// Gives each directory the mode that it had; says whether all have it. One that is gone needs none.
    pub(super) fn give_modes_back(&self, caller: &Caller) -> bool {
        let modes = std::mem::take(&mut *self.modes.lock());
        let mut all = true;
        for (directory, mode) in modes {
            let new = NewAttributes::with_mode(mode);
            let set = self.inner.set_attributes(caller, &directory, &new, None, &mut Change::default());
            all &= matches!(set, Ok(()) | Err(FsError::Stale | FsError::NotFound));
        }
        all
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
        // Two calls must not take each other's mode for the one that was there.
        let mut modes = self.modes.lock();
        if modes.contains_key(directory) {
            return true;
        }
        let Ok(now) = self.inner.attributes(caller, directory) else { return false };
        let is_locked = now.kind == FileKind::Directory && now.mode & NEEDED != NEEDED;
        if !is_locked || now.user != caller.user {
            return false;
        }
        let new = NewAttributes::with_mode(now.mode | NEEDED);
        let set = self.inner.set_attributes(caller, directory, &new, None, &mut Change::default());
        if set.is_ok() {
            modes.insert(*directory, now.mode);
        }
        set.is_ok()
    }
}

impl Layer for Unlocked {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    /// A directory that gets its final mode is not given another one at the end.
    fn set_attributes(
        &self,
        caller: &Caller,
        node: &Handle,
        new: &NewAttributes,
        guard: Option<Timestamp>,
        change: &mut Change,
    ) -> Result<()> {
        self.inner.set_attributes(caller, node, new, guard, change)?;
        if new.mode.is_some() {
            self.modes.lock().remove(node);
        }
        Ok(())
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.with(caller, &[directory], |inner| inner.lookup(caller, directory, name))
    }

    fn read_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        cookie: u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        self.with(caller, &[directory], |inner| inner.read_directory(caller, directory, cookie, detail, sink))
    }

    fn create(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        how: &Create,
        change: &mut Change,
    ) -> Result<Node> {
        self.with(caller, &[directory], |inner| inner.create(caller, directory, name, how, change))
    }

    fn make_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        self.with(caller, &[directory], |inner| inner.make_directory(caller, directory, name, new, change))
    }

    fn make_link(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        target: &[u8],
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        self.with(caller, &[directory], |inner| inner.make_link(caller, directory, name, target, new, change))
    }

    fn make_special(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        kind: SpecialKind,
        new: &NewAttributes,
        change: &mut Change,
    ) -> Result<Node> {
        self.with(caller, &[directory], |inner| {
            inner.make_special(caller, directory, name, kind, new, change)
        })
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

    fn link(
        &self,
        caller: &Caller,
        node: &Handle,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<Attributes> {
        self.with(caller, &[directory], |inner| inner.link(caller, node, directory, name, change))
    }
}
