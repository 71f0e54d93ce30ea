//! Operations by path on any file system, and what it holds.

use std::ops::ControlFlow;

use howdah_vfs::{
    AddLink, Caller, Change, Content, Create, CreateFile, Data, Detail, FileKind, FileSystem, FsError,
    Handle, ListDirectory, MakeDirectory, MakeLink, Name, NewAttributes, ReadFile, Result, SetAttributes,
    Stability, WriteFile,
};

use super::case::{Operation, State};

const ROOT: Caller = Caller::ROOT;

fn parsed(name: &str) -> Name<'_> {
    Name::parse(name.as_bytes()).expect("a name")
}

/// The node of a path; `.` is the root.
pub fn node(fs: &dyn FileSystem, caller: &Caller, path: &str) -> Result<Handle> {
    let names = path.split('/').filter(|name| *name != ".");
    names.into_iter().try_fold(fs.root(), |at, name| Ok(fs.lookup(caller, &at, parsed(name))?.node.handle))
}

/// The directory of a path, and its last name.
pub fn place<'p>(fs: &dyn FileSystem, caller: &Caller, path: &'p str) -> Result<(Handle, Name<'p>)> {
    let (above, name) = path.rsplit_once('/').unwrap_or((".", path));
    Ok((node(fs, caller, above)?, parsed(name)))
}

/// An operation at the server: durable when it returns.
pub fn run(fs: &dyn FileSystem, operation: &Operation) -> Result<()> {
    change(fs, &ROOT, operation, Stability::FileSync).map(drop)
}

/// An operation that changes something; gives the file that it wrote.
pub fn change(
    fs: &dyn FileSystem,
    caller: &Caller,
    operation: &Operation,
    stability: Stability,
) -> Result<Option<Handle>> {
    let note = &mut Change::default();
    match operation {
        Operation::Mkdir(path) => {
            let (directory, name) = place(fs, caller, path)?;
            let new = NewAttributes::with_mode(0o777);
            fs.make_directory(caller, MakeDirectory::new(&directory, name, &new), note)?;
        }
        Operation::Make(path, data) | Operation::Hold(path, data) | Operation::File(path, data) => {
            let (directory, name) = place(fs, caller, path)?;
            let new = NewAttributes::with_mode(0o644);
            let is_exclusive = !matches!(operation, Operation::File(..));
            let how = if is_exclusive { Create::Guarded(new) } else { Create::Unchecked(new) };
            let made = fs.create(caller, CreateFile::new(&directory, name, &how), note)?.handle;
            write(fs, caller, (&made, data), stability)?;
            return Ok(Some(made));
        }
        Operation::Write(path, data) => {
            let file = node(fs, caller, path)?;
            write(fs, caller, (&file, data), stability)?;
            return Ok(Some(file));
        }
        Operation::Cut(path) => {
            let (file, size) = (node(fs, caller, path)?, NewAttributes::with_size(0));
            fs.set_attributes(caller, SetAttributes::new(&file, &size, None), note)?;
        }
        Operation::Remove(path) => {
            let (directory, name) = place(fs, caller, path)?;
            fs.remove(caller, &directory, name, note)?;
        }
        Operation::Rmdir(path) => {
            let (directory, name) = place(fs, caller, path)?;
            fs.remove_directory(caller, &directory, name, note)?;
        }
        Operation::Rename(from, to) => {
            let (from, to) = (place(fs, caller, from)?, place(fs, caller, to)?);
            let (from, to) = ((&from.0, from.1), (&to.0, to.1));
            fs.rename(caller, from, to, (note, &mut Change::default()))?;
        }
        Operation::Link(path, to) => {
            let (file, (directory, name)) = (node(fs, caller, path)?, place(fs, caller, to)?);
            fs.link(caller, AddLink::new(&file, &directory, name), note)?;
        }
        Operation::Symlink(path, target) => {
            let ((directory, name), new) = (place(fs, caller, path)?, NewAttributes::default());
            fs.make_link(caller, MakeLink::new(&directory, name, target.as_bytes(), &new), note)?;
        }
        Operation::Close(_) | Operation::Fsync(_) | Operation::Sync(_) => return Err(FsError::NotSupported),
    }
    Ok(None)
}

fn write(
    fs: &dyn FileSystem,
    caller: &Caller,
    (file, data): (&Handle, &str),
    stability: Stability,
) -> Result<()> {
    let write = WriteFile::new(file, 0, Data::Bytes(data.as_bytes()), stability);
    fs.write(caller, write, &mut Change::default()).map(drop)
}

/// All that a file system holds.
pub fn state(fs: &dyn FileSystem) -> State {
    let mut state = State::new();
    add(fs, "", &fs.root(), &mut state);
    state
}

fn add(fs: &dyn FileSystem, above: &str, directory: &Handle, state: &mut State) {
    let mut entries = Vec::new();
    let list = ListDirectory::new(directory, 0, Detail::Nodes);
    let listing = fs.read_directory(&ROOT, list, &mut |entry| {
        entries.extend(entry.node.map(|node| (String::from_utf8_lossy(entry.name).into_owned(), *node)));
        ControlFlow::Continue(())
    });
    assert!(listing.is_ok_and(|listing| listing.end), "small directories only");
    for (name, node) in entries.into_iter().filter(|(name, _)| name != "." && name != "..") {
        let path = format!("{above}{name}");
        let mut data = Vec::new();
        let content = match node.attributes.kind {
            FileKind::Directory => {
                add(fs, &format!("{path}/"), &node.handle, state);
                None
            }
            FileKind::SymbolicLink => {
                fs.read_link(&ROOT, &node.handle, &mut data).expect("read");
                Some(format!("->{}", String::from_utf8_lossy(&data)))
            }
            _ => {
                let read = fs.read(&ROOT, ReadFile::new(&node.handle, 0, 1 << 16), &mut data).expect("read");
                let data = if let Content::Bytes(bytes) = read.content { bytes.to_vec() } else { data };
                Some(String::from_utf8_lossy(&data).into_owned())
            }
        };
        state.insert(path, content);
    }
}
