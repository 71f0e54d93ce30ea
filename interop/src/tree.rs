//! A tree of files that follows from a seed: sizes, modes, times, symbolic and hard links; and its archive.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};

use howdah_random::Random;

/// Files in one directory of the tree.
const FILES_PER_DIRECTORY: u64 = 50;
/// Most files are small, as in a source tree; every hundredth is not.
const SMALL: u64 = 8 << 10;
const LARGE: u64 = 256 << 10;
const MODES: [u32; 4] = [0o644, 0o600, 0o755, 0o440];
/// Nothing in it is as young as the test: a wrong time shows.
const OLDEST: u64 = 978_307_200;
const YEARS: u64 = 20 * 365 * 86_400;

/// Makes `tree/` with this many files, and `tree.tar`, in `work`.
pub fn make(work: &Path, seed: u64, files: u64) -> Result<()> {
    let root = work.join("tree");
    let mut random = Random::new(seed);
    for number in 0..files {
        let directory = root.join(directory_of(number));
        fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
        make_file(&directory, number, &mut random)
            .with_context(|| format!("making file {number} in {}", directory.display()))?;
    }
    pack(work)
}

fn directory_of(number: u64) -> String {
    let directory = number / FILES_PER_DIRECTORY;
    format!("{}/{}", directory % 16, directory)
}

fn make_file(directory: &Path, number: u64, random: &mut Random) -> Result<()> {
    let path = directory.join(format!("file-{number}"));
    let most = if number.is_multiple_of(100) { LARGE } else { SMALL };
    let mut bytes = vec![0; usize::try_from(random.below(most))?];
    random.fill(&mut bytes);
    fs::write(&path, bytes)?;
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(OLDEST + random.below(YEARS));
    File::options().write(true).open(&path)?.set_times(FileTimes::new().set_modified(time))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(MODES[(random.below(4)) as usize]))?;
    match number % 20 {
        7 => symlink(format!("file-{number}"), directory.join(format!("symlink-{number}")))?,
        13 => fs::hard_link(&path, directory.join(format!("link-{number}")))?,
        _ => {}
    }
    Ok(())
}

fn pack(work: &Path) -> Result<()> {
    let status = Command::new("tar")
        .args(["--create", "--sort=name", "--format=posix", "--file", "tree.tar", "--directory", "tree", "."])
        .current_dir(work)
        .status()
        .context("starting tar")?;
    ensure!(status.success(), "packing the tree: tar ended with {status}");
    Ok(())
}
