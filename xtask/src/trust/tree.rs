//! Trees that are copied, and whether a copy is like its source.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;

use super::random::Random;

/// The largest file, which goes in many parts.
pub const BIG: &str = "big";
const BIG_SIZE: usize = 3 << 20;
/// One with holes.
const SPARSE: &str = "sparse";
const SPARSE_SIZE: u64 = 24 << 20;
/// Small files.
const FILES: usize = 24;
const LARGEST: usize = 100_000;

/// Makes a tree: small files in two directories, a big one, one with holes, a symbolic link, a second name.
pub fn grow(directory: &Path, random: &mut Random) -> io::Result<()> {
    let below = directory.join("below");
    fs::create_dir_all(&below)?;
    for number in 0..FILES {
        let directory = if number % 3 == 2 { &below } else { directory };
        fs::write(directory.join(format!("file-{number}")), random.bytes_up_to(LARGEST))?;
    }
    fs::write(directory.join(BIG), random.bytes(BIG_SIZE))?;
    let sparse = File::create(directory.join(SPARSE))?;
    sparse.set_len(SPARSE_SIZE)?;
    for at in [0, SPARSE_SIZE / 3, SPARSE_SIZE - 70_000] {
        sparse.write_all_at(&random.bytes(50_000), at)?;
    }
    symlink("../somewhere", below.join("link"))?;
    fs::hard_link(directory.join("file-0"), below.join("second-name"))
}

/// Whether what has its final name in a copy is whole: like the source, or like what was there before. If the copy is to be
/// `complete`, all is there, and nothing else.
pub fn check(source: &Path, copy: &Path, older: Option<&Path>, complete: bool) -> Result<(), String> {
    let problem = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let entries = match fs::read_dir(copy) {
        Ok(entries) => entries,
        Err(_) if !complete => return Ok(()),
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
    }
    let wanted = fs::read_dir(source).map_err(|error| problem(source, error))?.count();
    if complete && seen != wanted {
        return Err(format!("{} has {seen} names instead of {wanted}", copy.display()));
    }
    Ok(())
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
