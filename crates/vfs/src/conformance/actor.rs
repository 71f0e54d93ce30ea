//! A caller at work on a file system: the calls of the trait in the short form that cases want.

use std::ops::ControlFlow;

use crate::{
    Access, AddLink, Attributes, Caller, Change, CommitFile, Committed, Content, Create, CreateFile, Data,
    Detail, FileSystem, FsError, Guard, Handle, ListDirectory, MakeDirectory, MakeLink, MakeSpecial, Name,
    NameError, NewAttributes, Node, ReadFile, Result, SetAttributes, SpecialKind, Stability, WriteFile,
    Written,
};

/// A file system as one caller sees it.
#[derive(Clone)]
pub(super) struct Actor<'f> {
    pub(super) fs: &'f dyn FileSystem,
    pub(super) caller: Caller,
}

/// An entry of a listing, owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: Vec<u8>,
    pub(super) file: u64,
    pub(super) cookie: u64,
    pub(super) node: Option<Node>,
}

/// A part of a listing, and whether it reaches the end.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) entries: Vec<Listed>,
    pub(super) end: bool,
}

fn name<N: AsRef<[u8]> + ?Sized>(name: &N) -> Result<Name<'_>> {
    Name::parse(name.as_ref()).map_err(NameError::refusal)
}

/// How often a call is made that is answered "not now".
const MOST_TRIES: usize = 1_000;

/// Makes a call again while the file system says that it cannot just now, as clients do: a handle may be hard to find.
fn again<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..MOST_TRIES {
        match call() {
            Err(FsError::Delay) => std::thread::yield_now(),
            outcome => return outcome,
        }
    }
    call()
}

impl Actor<'_> {
    pub(super) fn attributes(&self, node: &Node) -> Result<Attributes> {
        again(|| self.fs.attributes(&self.caller, &node.handle))
    }

    pub(super) fn look(&self, directory: &Node, of: impl AsRef<[u8]>) -> Result<Node> {
        Ok(again(|| self.fs.lookup(&self.caller, &directory.handle, name(&of)?))?.node)
    }

    pub(super) fn parent(&self, directory: &Node) -> Result<Node> {
        Ok(again(|| self.fs.parent(&self.caller, &directory.handle))?.node)
    }

    pub(super) fn access(&self, node: &Node, wanted: Access) -> Result<Access> {
        Ok(again(|| self.fs.access(&self.caller, &node.handle, wanted))?.0)
    }

    pub(super) fn set(&self, node: &Node, new: NewAttributes) -> Result<()> {
        again(|| {
            self.fs.set_attributes(
                &self.caller,
                SetAttributes::new(&node.handle, &new, None),
                &mut Change::default(),
            )
        })
    }

    pub(super) fn set_guarded(&self, node: &Node, new: NewAttributes, guard: Guard) -> Result<()> {
        self.fs.set_attributes(
            &self.caller,
            SetAttributes::new(&node.handle, &new, Some(guard)),
            &mut Change::default(),
        )
    }

    pub(super) fn create_how(&self, directory: &Node, of: impl AsRef<[u8]>, how: Create) -> Result<Node> {
        self.fs.create(
            &self.caller,
            CreateFile::new(&directory.handle, name(&of)?, &how),
            &mut Change::default(),
        )
    }

    /// A new file.
    pub(super) fn create(&self, directory: &Node, of: impl AsRef<[u8]>, mode: u32) -> Result<Node> {
        self.create_how(directory, of, Create::Guarded(NewAttributes::with_mode(mode)))
    }

    /// A new file with that content.
    pub(super) fn create_holding(&self, directory: &Node, of: impl AsRef<[u8]>, data: &[u8]) -> Result<Node> {
        let file = self.create(directory, of, 0o644)?;
        self.write_all(&file, 0, data)?;
        Ok(file)
    }

    pub(super) fn make_directory(&self, directory: &Node, of: impl AsRef<[u8]>, mode: u32) -> Result<Node> {
        let new = NewAttributes::with_mode(mode);
        self.fs.make_directory(
            &self.caller,
            MakeDirectory::new(&directory.handle, name(&of)?, &new),
            &mut Change::default(),
        )
    }

    pub(super) fn make_link(
        &self,
        directory: &Node,
        of: impl AsRef<[u8]>,
        target: impl AsRef<[u8]>,
    ) -> Result<Node> {
        let new = NewAttributes::default();
        let (directory, target) = (&directory.handle, target.as_ref());
        self.fs.make_link(
            &self.caller,
            MakeLink::new(directory, name(&of)?, target, &new),
            &mut Change::default(),
        )
    }

    pub(super) fn make_special(
        &self,
        directory: &Node,
        of: impl AsRef<[u8]>,
        kind: SpecialKind,
        mode: u32,
    ) -> Result<Node> {
        let new = NewAttributes::with_mode(mode);
        let directory = &directory.handle;
        self.fs.make_special(
            &self.caller,
            MakeSpecial::new(directory, name(&of)?, kind, &new),
            &mut Change::default(),
        )
    }

    pub(super) fn remove(&self, directory: &Node, of: impl AsRef<[u8]>) -> Result<()> {
        self.fs.remove(&self.caller, &directory.handle, name(&of)?, &mut Change::default())
    }

    pub(super) fn remove_directory(&self, directory: &Node, of: impl AsRef<[u8]>) -> Result<()> {
        self.fs.remove_directory(&self.caller, &directory.handle, name(&of)?, &mut Change::default())
    }

    pub(super) fn rename(
        &self,
        from: (&Node, impl AsRef<[u8]>),
        to: (&Node, impl AsRef<[u8]>),
    ) -> Result<()> {
        let (mut left, mut entered) = (Change::default(), Change::default());
        let source = (&from.0.handle, name(&from.1)?);
        let target = (&to.0.handle, name(&to.1)?);
        self.fs.rename(&self.caller, source, target, (&mut left, &mut entered))
    }

    pub(super) fn link(&self, node: &Node, directory: &Node, of: impl AsRef<[u8]>) -> Result<Attributes> {
        let (node, directory) = (&node.handle, &directory.handle);
        self.fs.link(&self.caller, AddLink::new(node, directory, name(&of)?), &mut Change::default())
    }

    pub(super) fn read_link(&self, node: &Node) -> Result<Vec<u8>> {
        let mut target = Vec::new();
        again(|| self.fs.read_link(&self.caller, &node.handle, &mut target))?;
        Ok(target)
    }

    /// One READ: the data, and whether it reaches the end.
    pub(super) fn read(&self, node: &Node, offset: u64, count: usize) -> Result<(Vec<u8>, bool)> {
        let mut buffer = Vec::new();
        let outcome =
            again(|| self.fs.read(&self.caller, ReadFile::new(&node.handle, offset, count), &mut buffer))?;
        let data = match outcome.content {
            Content::Appended(length) if length == buffer.len() => buffer,
            Content::Appended(_) => return Err(FsError::ServerFault),
            Content::Bytes(bytes) => bytes.to_vec(),
            Content::File(range) => {
                let read = range.append_to(&mut buffer).map_err(|_| FsError::Io)?;
                if read < range.length {
                    return Err(FsError::ServerFault);
                }
                buffer
            }
        };
        Ok((data, outcome.end))
    }

    /// READs until `count` bytes or the end are there.
    pub(super) fn read_all(&self, node: &Node, offset: u64, count: usize) -> Result<Vec<u8>> {
        let mut data = Vec::new();
        while data.len() < count {
            let (more, end) = self.read(node, offset + data.len() as u64, count - data.len())?;
            data.extend_from_slice(&more);
            if end || more.is_empty() {
                break;
            }
        }
        Ok(data)
    }

    /// One WRITE.
    pub(super) fn write(
        &self,
        node: &Node,
        offset: u64,
        data: &[u8],
        stability: Stability,
    ) -> Result<Written> {
        again(|| {
            let data = Data::Bytes(data);
            self.fs.write(
                &self.caller,
                WriteFile::new(&node.handle, offset, data, stability),
                &mut Change::default(),
            )
        })
    }

    /// WRITEs until all of it is there.
    pub(super) fn write_all(&self, node: &Node, offset: u64, data: &[u8]) -> Result<()> {
        let mut done = 0;
        while done < data.len() {
            let written = self.write(node, offset + done as u64, &data[done..], Stability::FileSync)?;
            if written.count == 0 {
                return Err(FsError::NoSpace);
            }
            done += written.count;
        }
        Ok(())
    }

    pub(super) fn commit(&self, node: &Node, offset: u64, count: u64) -> Result<Committed> {
        again(|| {
            self.fs.commit(&self.caller, CommitFile::new(&node.handle, offset, count), &mut Change::default())
        })
    }

    /// At most `most` entries after a cookie.
    pub(super) fn page(&self, directory: &Node, cookie: u64, most: usize, detail: Detail) -> Result<Page> {
        let mut entries = Vec::new();
        let listing = self.fs.read_directory(
            &self.caller,
            ListDirectory::new(&directory.handle, cookie, detail),
            &mut |entry| {
                if entries.len() == most {
                    return ControlFlow::Break(());
                }
                let (name, node) = (entry.name.to_vec(), entry.node.copied());
                entries.push(Listed { name, file: entry.file, cookie: entry.cookie, node });
                ControlFlow::Continue(())
            },
        )?;
        Ok(Page { entries, end: listing.end })
    }

    /// The whole directory, `most` entries at a time.
    pub(super) fn list_by(&self, directory: &Node, most: usize, detail: Detail) -> Result<Vec<Listed>> {
        let mut entries: Vec<Listed> = Vec::new();
        loop {
            let cookie = entries.last().map_or(0, |last| last.cookie);
            let page = self.page(directory, cookie, most, detail)?;
            let stuck = page.entries.is_empty();
            entries.extend(page.entries);
            if page.end {
                return Ok(entries);
            }
            if stuck {
                // Neither an entry nor the end: it would go on for ever.
                return Err(FsError::ServerFault);
            }
        }
    }

    /// The names in a directory but `.` and `..`, sorted.
    pub(super) fn names(&self, directory: &Node) -> Result<Vec<Vec<u8>>> {
        let entries = self.list_by(directory, usize::MAX, Detail::Names)?;
        let mut names: Vec<_> = entries.into_iter().map(|entry| entry.name).collect();
        names.retain(|name| !matches!(&name[..], b"." | b".."));
        names.sort();
        Ok(names)
    }

    /// A node that only a handle is known of.
    pub(super) fn node(&self, handle: Handle) -> Result<Node> {
        Ok(Node { handle, attributes: again(|| self.fs.attributes(&self.caller, &handle))? })
    }
}
