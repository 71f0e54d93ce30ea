//! A file that is there, to be read: the largest among the first names of an export. Nothing is made.

use std::ops::ControlFlow;

use howdah_vfs::{Attributes, Caller, Detail, FileKind, FileSystem, Handle, ListDirectory, Name, ReadFile};

/// Names that are looked at, of all directories together.
const NAMES: usize = 500;
/// Directories that are listed.
const DIRECTORIES: usize = 20;
/// A file of this size is large enough: no further one is looked for.
const ENOUGH: u64 = 1 << 30;

/// A file, and how long it is.
#[derive(Debug, Clone, Copy)]
pub struct ProbedFile {
    /// The file.
    pub handle: Handle,
    /// Its bytes.
    pub size: u64,
}

/// Looks below a directory, or takes the file that it is. What may not be read or listed is passed over.
pub fn largest(fs: &dyn FileSystem, caller: &Caller, from: &Handle) -> Option<ProbedFile> {
    let mut search = Search { fs, caller, names: 0, best: None, directories: vec![*from] };
    if let Ok(attributes) = fs.attributes(caller, from)
        && attributes.kind == FileKind::Regular
    {
        return Some(ProbedFile { handle: *from, size: attributes.size });
    }
    let mut listed = 0;
    while let Some(directory) = (listed < DIRECTORIES).then(|| search.directories.pop()).flatten() {
        listed += 1;
        search.list(&directory);
        if search.names >= NAMES || search.best.is_some_and(|best| best.size >= ENOUGH) {
            break;
        }
    }
    search.best
}

/// A name, and what it names if the listing had it.
type Listed = (Vec<u8>, Option<(Handle, Attributes)>);

struct Search<'a> {
    fs: &'a dyn FileSystem,
    caller: &'a Caller,
    names: usize,
    best: Option<ProbedFile>,
    directories: Vec<Handle>,
}

impl Search<'_> {
    fn list(&mut self, directory: &Handle) {
        let mut entries: Vec<Listed> = Vec::new();
        let room = NAMES.saturating_sub(self.names);
        let mut sink = |entry: howdah_vfs::Entry<'_>| {
            if !matches!(entry.name, b"." | b"..") {
                entries.push((entry.name.to_vec(), entry.node.map(|node| (node.handle, node.attributes))));
            }
            if entries.len() < room { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        // One answer of the server is enough of a directory.
        if self
            .fs
            .read_directory(self.caller, ListDirectory::new(directory, 0, Detail::Nodes), &mut sink)
            .is_err()
        {
            return;
        }
        self.names += entries.len();
        for (name, node) in entries {
            if let Some((handle, attributes)) = node.or_else(|| self.look_up(directory, &name)) {
                self.consider(handle, &attributes);
            }
        }
    }

    fn look_up(&self, directory: &Handle, name: &[u8]) -> Option<(Handle, Attributes)> {
        let found = self.fs.lookup(self.caller, directory, Name::parse(name).ok()?).ok()?;
        Some((found.node.handle, found.node.attributes))
    }

    fn consider(&mut self, handle: Handle, attributes: &Attributes) {
        if attributes.kind == FileKind::Directory {
            self.directories.push(handle);
            return;
        }
        let is_larger = attributes.size > self.best.map_or(0, |best| best.size);
        // One that may not be read is none.
        let may_be_read = || self.fs.read(self.caller, ReadFile::new(&handle, 0, 1), &mut Vec::new()).is_ok();
        if attributes.kind == FileKind::Regular && is_larger && may_be_read() {
            self.best = Some(ProbedFile { handle, size: attributes.size });
        }
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{Change, Create, CreateFile, Data, MakeDirectory, NewAttributes, Stability, WriteFile};

    use super::*;

    fn file(fs: &MemoryFileSystem, directory: &Handle, name: &str, size: usize) {
        let name = Name::parse(name.as_bytes()).expect("a name");
        let how = Create::Unchecked(NewAttributes::default());
        let made = fs
            .create(&Caller::ROOT, CreateFile::new(directory, name, &how), &mut Change::default())
            .expect("made");
        let (bytes, mut change) = (vec![7; size], Change::default());
        fs.write(
            &Caller::ROOT,
            WriteFile::new(&made.handle, 0, Data::Bytes(&bytes), Stability::FileSync),
            &mut change,
        )
        .expect("written");
    }

    #[test]
    fn the_largest_file_is_found_where_it_lies() {
        let fs = MemoryFileSystem::new();
        assert!(largest(&fs, &Caller::ROOT, &fs.root()).is_none());
        file(&fs, &fs.root(), "small", 10);
        let name = Name::parse(b"below").expect("a name");
        let below = fs
            .make_directory(
                &Caller::ROOT,
                MakeDirectory::new(&fs.root(), name, &NewAttributes::default()),
                &mut Change::default(),
            )
            .expect("made");
        file(&fs, &below.handle, "large", 1000);
        let found = largest(&fs, &Caller::ROOT, &fs.root()).expect("a file");
        assert_eq!(found.size, 1000);
        assert_eq!(largest(&fs, &Caller::ROOT, &found.handle).expect("itself").size, 1000);
    }
}
