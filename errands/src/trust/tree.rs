//! Trees that are copied, and whether a copy is like its source.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use howdah_random::Random;

/// The largest file, which goes in many parts.
pub const BIG: &str = "big";
const BIG_SIZE: usize = 3 << 20;
/// One with holes.
const SPARSE: &str = "sparse";
const SPARSE_SIZE: u64 = 24 << 20;
/// Small files.
const FILES: usize = 24;
const LARGEST: usize = 100_000;
/// How much older an older tree is.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
/// What may be done with them; what a umask makes of a new file is not among these.
const MODES: [u32; 4] = [0o600, 0o664, 0o755, 0o440];

/// Makes a tree: small files of several modes in two directories, a big one, one with holes, a symbolic link, a second name.
pub fn grow(directory: &Path, random: &mut Random) -> io::Result<()> {
    let below = directory.join("below");
    fs::create_dir_all(&below)?;
    for number in 0..FILES {
        let directory = if number % 3 == 2 { &below } else { directory };
        let path = directory.join(format!("file-{number}"));
        let length = random.index(LARGEST);
        fs::write(&path, random.bytes(length))?;
        fs::set_permissions(&path, PermissionsExt::from_mode(MODES[number % MODES.len()]))?;
    }
    fs::write(directory.join(BIG), random.bytes(BIG_SIZE))?;
    let sparse = File::create(directory.join(SPARSE))?;
    sparse.set_len(SPARSE_SIZE)?;
    for at in [0, SPARSE_SIZE / 3, SPARSE_SIZE - 70_000] {
        sparse.write_all_at(&random.bytes(50_000), at)?;
    }
    symlink("../somewhere", below.join("link"))?;
    fs::hard_link(directory.join("file-0"), below.join("second-name"))?;
    fs::set_permissions(&below, PermissionsExt::from_mode(0o710))
}

/// Makes every file of a tree older, by far more than the steps of a kernel's clock: one of the same size and time counts as a copy.
pub fn age(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            age(&entry.path())?;
        } else if kind.is_file() {
            let file = File::open(entry.path())?;
            file.set_modified(file.metadata()?.modified()? - YEAR)?;
        }
    }
    Ok(())
}

/// Whether what has its final name in a copy is whole: like the source, or like what was there before. If the copy is to be
/// `complete`, all is there, with its mode, time and number of names, and nothing else.
pub fn check(source: &Path, copy: &Path, older: Option<&Path>, complete: bool) -> Result<(), String> {
    let problem = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let entries = match fs::read_dir(copy) {
        Ok(entries) => entries,
        // It was not begun, or is removed just now by the worker that is done with it.
        Err(error) if !complete && error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(problem(copy, error)),
    };
    let mut seen = 0;
    for entry in entries {
        let entry = entry.map_err(|error| problem(copy, error))?;
        let (path, name) = (entry.path(), entry.file_name());
        if name.as_encoded_bytes().starts_with(b".") {
            if complete {
                return Err(format!("{} is left", path.display()));
            }
            continue;
        }
        seen += 1;
        let (source, older) = (source.join(&name), older.map(|older| older.join(&name)));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            check(&source, &path, older.as_deref(), complete)?;
        } else if !same(&source, &path) && !older.is_some_and(|older| same(&older, &path)) {
            return Err(format!("{} has its name and is not its source", path.display()));
        }
        if complete {
            looks_alike(&source, &path)?;
        }
    }
    let wanted = fs::read_dir(source).map_err(|error| problem(source, error))?.count();
    if complete && seen != wanted {
        return Err(format!("{} has {seen} names instead of {wanted}", copy.display()));
    }
    Ok(())
}

/// Whether a copy has what a copy keeps besides bytes.
fn looks_alike(source: &Path, copy: &Path) -> Result<(), String> {
    let look = |path: &Path| {
        let metadata = fs::symlink_metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let names = if metadata.is_dir() { 1 } else { metadata.nlink() };
        Ok::<_, String>((metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), names))
    };
    let (wanted, seen) = (look(source)?, look(copy)?);
    if wanted == seen {
        return Ok(());
    }
    Err(format!("{}: mode, time and number of names are {seen:?} instead of {wanted:?}", copy.display()))
}

/// Whether two files are alike in kind and in every byte; two links if they point to the same.
pub fn same(one: &Path, other: &Path) -> bool {
    let kind = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.mode() >> 12).ok();
    if kind(one).is_none() || kind(one) != kind(other) {
        return false;
    }
    match (fs::read_link(one), fs::read_link(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => matches!((fs::read(one), fs::read(other)), (Ok(one), Ok(other)) if one == other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_aged_tree_is_older_than_one_that_is_grown_at_once() {
        let home = tempfile::tempdir().expect("a directory");
        let (source, older) = (home.path().join("source"), home.path().join("older"));
        for tree in [&source, &older] {
            grow(tree, &mut Random::new(1)).expect("grown");
        }
        age(&older).expect("aged");
        // A hard link has the time of its file, which is aged once for each of its names.
        for name in [BIG, SPARSE, "file-0", "below/file-2"] {
            let modified =
                |tree: &Path| fs::metadata(tree.join(name)).and_then(|file| file.modified()).expect("a time");
            assert!(modified(&older) + YEAR / 2 < modified(&source), "{name}");
        }
    }

    #[test]
    fn a_copy_is_told_from_its_source_by_each_thing_that_it_keeps() {
        let home = tempfile::tempdir().expect("a directory");
        let (source, copy) = (home.path().join("source"), home.path().join("copy"));
        grow(&source, &mut Random::new(1)).expect("grown");
        let copied = |flags: &str| {
            let _ = fs::remove_dir_all(&copy);
            let status = std::process::Command::new("cp").arg(flags).arg(&source).arg(&copy).status();
            assert!(status.expect("cp").success());
        };
        let (name, other) = (copy.join("file-0"), copy.join("below/file-2"));
        let change: [(&str, &dyn Fn()); 5] = [
            ("not its source", &|| fs::write(&other, "else").expect("written")),
            ("mode, time", &|| fs::set_permissions(&other, PermissionsExt::from_mode(0o640)).expect("set")),
            ("mode, time", &|| fs::hard_link(&other, home.path().join("name")).expect("linked")),
            ("instead of", &|| fs::remove_file(&name).expect("removed")),
            ("is left", &|| fs::write(copy.join(".partial"), "").expect("written")),
        ];
        for (wrong, change) in change {
            copied("-a");
            assert_eq!(check(&source, &copy, None, true), Ok(()));
            change();
            let said = check(&source, &copy, None, true).expect_err(wrong);
            assert!(said.contains(wrong), "{said}");
        }
        copied("-r");
        check(&source, &copy, None, true).expect_err("another time");
        assert_eq!(check(&source, &copy, None, false), Ok(()));
    }
}
