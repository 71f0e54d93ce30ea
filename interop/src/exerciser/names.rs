//! A directory's names: made, moved, linked, removed, listed; every answer equal to the model's.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;

use super::history::History;
use super::names_model::{Kind, Model};
use howdah_random::Random;

/// Few names, so that operations meet each other's.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const DEEPEST: u64 = 3;
/// Every so often the whole tree is listed and compared.
const COMPARED_EVERY: u64 = 500;

/// What is done next.
#[derive(Debug)]
enum Operation {
    Create(Vec<String>),
    Rewrite(Vec<String>),
    Mkdir(Vec<String>),
    Symlink(Vec<String>),
    Unlink(Vec<String>),
    Rmdir(Vec<String>),
    Link(Vec<String>, Vec<String>),
    Rename(Vec<String>, Vec<String>),
    Look(Vec<String>),
}

/// Exercises the empty directory at `root` for some time; says what it did, or what differed. `forget` empties the
/// kernel's caches before the tree is compared, where the caller may and wants to.
pub fn exercise_names(root: &Path, seed: u64, time: Duration, forget: impl Fn()) -> Result<String> {
    let mut random = Random::new(seed);
    let mut model = Model::new();
    let mut history = History::default();
    let end = Instant::now() + time;
    while Instant::now() < end {
        let operation = choose(&mut random);
        history.push(&operation);
        let text = history.count().to_string();
        perform(root, &mut model, &operation, &text).with_context(|| history.tail())?;
        if history.count().is_multiple_of(COMPARED_EVERY) {
            forget();
            compare_tree(root, &model, &mut Vec::new()).with_context(|| history.tail())?;
        }
    }
    compare_tree(root, &model, &mut Vec::new()).with_context(|| history.tail())?;
    Ok(format!("{} operations on names, all as the model", history.count()))
}

fn choose(random: &mut Random) -> Operation {
    let one = path(random);
    match random.below(100) {
        0..18 => Operation::Create(one),
        18..26 => Operation::Rewrite(one),
        26..42 => Operation::Mkdir(one),
        42..47 => Operation::Symlink(one),
        47..59 => Operation::Unlink(one),
        59..65 => Operation::Rmdir(one),
        65..73 => Operation::Link(one, path(random)),
        73..90 => Operation::Rename(one, path(random)),
        _ => Operation::Look(one),
    }
}

fn path(random: &mut Random) -> Vec<String> {
    let depth = 1 + random.below(DEEPEST);
    (0..depth).map(|_| NAMES[random.below(NAMES.len() as u64) as usize].to_owned()).collect()
}

fn perform(root: &Path, model: &mut Model, operation: &Operation, text: &str) -> Result<()> {
    let real = |names: &[String]| names.iter().fold(root.to_path_buf(), |path, name| path.join(name));
    let (got, want) = match operation {
        Operation::Create(at) => (create(&real(at), text), model.make(at, Kind::File(text.into()))),
        Operation::Rewrite(at) => (rewrite(&real(at), text), model.rewrite(at, text)),
        Operation::Mkdir(at) => (fs::create_dir(real(at)), model.make(at, Kind::Directory(BTreeMap::new()))),
        Operation::Symlink(at) => {
            let target = format!("nowhere-{text}");
            (symlink(&target, real(at)), model.make(at, Kind::Symlink(target)))
        }
        Operation::Unlink(at) => (fs::remove_file(real(at)), model.unlink(at)),
        Operation::Rmdir(at) => (fs::remove_dir(real(at)), model.rmdir(at)),
        Operation::Link(from, to) => (fs::hard_link(real(from), real(to)), model.link(from, to)),
        Operation::Rename(from, to) => (fs::rename(real(from), real(to)), model.rename(from, to)),
        Operation::Look(at) => return look(&real(at), model, at),
    };
    compare_answers(got, want)
}

fn create(path: &Path, text: &str) -> io::Result<()> {
    io::Write::write_all(&mut fs::File::create_new(path)?, text.as_bytes())
}

fn rewrite(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let mut file = fs::OpenOptions::new().write(true).truncate(true).custom_flags(no_follow).open(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}

fn compare_answers(got: io::Result<()>, want: Result<(), Errno>) -> Result<()> {
    let got = got.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO));
    match (got, want) {
        (Ok(()), Ok(())) => Ok(()),
        // Which of several reasons is named first is the kernel's affair.
        (Err(_), Err(_)) => Ok(()),
        (got, want) => bail!("the answer is {got:?}, not {want:?}"),
    }
}

fn look(path: &Path, model: &Model, at: &[String]) -> Result<()> {
    let metadata = fs::symlink_metadata(path);
    let kind = match model.find(at) {
        Err(_) => {
            ensure!(metadata.is_err(), "{} is there", path.display());
            return Ok(());
        }
        Ok(kind) => kind,
    };
    let metadata = metadata.with_context(|| format!("looking at {}", path.display()))?;
    match kind {
        Kind::Directory(_) => ensure!(metadata.is_dir(), "{} is no directory", path.display()),
        Kind::Symlink(target) => {
            let got = fs::read_link(path).with_context(|| format!("reading the link {}", path.display()))?;
            ensure!(got == Path::new(target), "{} leads to {}", path.display(), got.display());
        }
        Kind::File(text) => {
            let got = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
            ensure!(got == *text, "{} holds '{got}', not '{text}'", path.display());
            let links = model.links(at).map_err(io::Error::from)?;
            ensure!(
                metadata.nlink() == links,
                "{} has {} names, not {links}",
                path.display(),
                metadata.nlink()
            );
        }
    }
    Ok(())
}

fn compare_tree(root: &Path, model: &Model, at: &mut Vec<String>) -> Result<()> {
    let path = at.iter().fold(root.to_path_buf(), |path, name| path.join(name));
    let Ok(Kind::Directory(names)) = model.find(at) else { return look(&path, model, at) };
    let mut got = Vec::new();
    for entry in fs::read_dir(&path).with_context(|| format!("listing {}", path.display()))? {
        let entry = entry.with_context(|| format!("listing {}", path.display()))?;
        got.push(entry.file_name().to_string_lossy().into_owned());
    }
    got.sort();
    let want: Vec<_> = names.keys().cloned().collect();
    ensure!(got == want, "{} lists {got:?}, not {want:?}", path.display());
    for name in want {
        at.push(name);
        compare_tree(root, model, at)?;
        at.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[test]
    fn a_local_directory_passes() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let seed = 0x5eed;
        super::exercise_names(directory.path(), seed, Duration::from_millis(300), || ())
            .unwrap_or_else(|error| panic!("seed {seed}: {error:#}"));
    }
}
