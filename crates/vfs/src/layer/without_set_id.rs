//! A file system on which no file comes to run as another user than the one who starts it.

use std::sync::Arc;

use super::{Call, Layer};
use crate::{
    Caller, Change, Create, CreateFile, FileKind, FileSystem, MakeDirectory, MakeSpecial, NewAttributes,
    Node, Result, SetAttributes,
};

/// The set-user-ID and set-group-ID bits of a mode.
const SET_ID: u32 = 0o6000;
/// The set-user-ID bit.
const SET_USER_ID: u32 = 0o4000;

/// Leaves out the set-user-ID and set-group-ID bits that callers ask for. That of the group stays on directories, where
/// it only hands the group down.
pub struct WithoutSetId {
    inner: Arc<dyn FileSystem>,
}

impl WithoutSetId {
    /// The same files.
    pub fn around(inner: Arc<dyn FileSystem>) -> Self {
        Self { inner }
    }
}

fn without(new: &NewAttributes, bits: u32) -> NewAttributes {
    NewAttributes { mode: new.mode.map(|mode| mode & !bits), ..*new }
}

impl Layer for WithoutSetId {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        if set.new.mode.is_none_or(|mode| mode & SET_ID == 0) {
            return self.inner.set_attributes(caller, set, change);
        }
        // A node never becomes another kind.
        let is_directory = self.inner.attributes(caller, set.node)?.kind == FileKind::Directory;
        let bits = if is_directory { SET_USER_ID } else { SET_ID };
        self.inner.set_attributes(
            caller,
            SetAttributes::new(set.node, &without(set.new, bits), set.guard),
            change,
        )
    }

    fn create(
        &self,
        caller: &Caller,
        CreateFile { directory, name, how }: CreateFile<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        let how = match how {
            Create::Unchecked(new) => Create::Unchecked(without(new, SET_ID)),
            Create::Guarded(new) => Create::Guarded(without(new, SET_ID)),
            Create::Exclusive(verifier) => Create::Exclusive(*verifier),
            Create::ExclusiveWith(verifier, new) => Create::ExclusiveWith(*verifier, without(new, SET_ID)),
        };
        self.inner.create(caller, CreateFile::new(directory, name, &how), change)
    }

    fn make_directory(
        &self,
        caller: &Caller,
        MakeDirectory { directory, name, new }: MakeDirectory<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.inner.make_directory(
            caller,
            MakeDirectory::new(directory, name, &without(new, SET_USER_ID)),
            change,
        )
    }

    fn make_special(
        &self,
        caller: &Caller,
        MakeSpecial { directory, name, kind, new }: MakeSpecial<'_>,
        change: &mut Change,
    ) -> Result<Node> {
        self.inner.make_special(
            caller,
            MakeSpecial::new(directory, name, kind, &without(new, SET_ID)),
            change,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFileSystem;
    use crate::{Handle, Name, SpecialKind};

    #[test]
    fn files_get_no_set_id_bits_and_directories_hand_their_group_down() {
        let fs: &dyn FileSystem = &WithoutSetId::around(Arc::new(MemoryFileSystem::new()));
        let (me, root, change) = (Caller::ROOT, fs.root(), &mut Change::default());
        let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
        let new = NewAttributes::with_mode(0o6755);
        let mode = |node: &Handle| fs.attributes(&me, node).expect("it is there").mode;
        let file = fs
            .create(&me, CreateFile::new(&root, name("f"), &Create::Guarded(new)), change)
            .expect("made")
            .handle;
        let other = fs
            .create(&me, CreateFile::new(&root, name("o"), &Create::Unchecked(new)), change)
            .expect("made")
            .handle;
        let fifo = fs
            .make_special(&me, MakeSpecial::new(&root, name("p"), SpecialKind::Fifo, &new), change)
            .expect("made")
            .handle;
        let directory =
            fs.make_directory(&me, MakeDirectory::new(&root, name("d"), &new), change).expect("made").handle;
        assert_eq!([file, other, fifo].map(|node| mode(&node)), [0o755; 3]);
        assert_eq!(mode(&directory), 0o2755);
        for (node, set, expected) in [
            (file, 0o4711, 0o711),
            (file, 0o2755, 0o755),
            (file, 0o1600, 0o1600),
            (directory, 0o6770, 0o2770),
        ] {
            fs.set_attributes(&me, SetAttributes::new(&node, &NewAttributes::with_mode(set), None), change)
                .expect("set");
            assert_eq!(mode(&node), expected, "{set:o}");
        }
    }
}
