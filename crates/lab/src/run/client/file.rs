//! Files for clients that move or look at them: their size as the options say it, and data for them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use howdah_random::Random;

/// The file, if the plan does not say: 500 MiB, as in 2008.
pub const USUAL_SIZE: u64 = 500 << 20;

/// Small files of a tree in a directory.
const FILES_EACH: u64 = 50;

/// A small file is so long, in bytes: from, and below.
const LENGTHS: (u64, u64) = (1 << 10, 64 << 10);

/// Small files of a deep tree in a directory of the lowest level.
const DEEP_FILES_EACH: u64 = 15;

/// A file of a deep tree is so long, in bytes: 6.6 KB on average.
const DEEP_LENGTHS: (u64, u64) = (100, 13_100);

/// Levels of directories in a deep tree, each with four directories of the next one.
const LEVELS: u32 = 6;

/// A tree is the same in all runs.
const SEED: u64 = 2000;

/// A piece of it.
const PIECE: usize = 1 << 20;

/// The size that stands after a flag: `--size 500M`. K, M and G are powers of 1024.
pub fn size(options: &[String], flag: &str) -> Result<Option<u64>> {
    let Some(place) = options.iter().position(|option| option == flag) else { return Ok(None) };
    let text = options.get(place + 1).with_context(|| format!("{flag} without a size"))?;
    let (number, unit) =
        text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()));
    let unit = match unit {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => bail!("{flag} {text}: K, M and G are allowed"),
    };
    let number: u64 = number.parse().with_context(|| format!("{flag} {text}"))?;
    number.checked_mul(unit).map(Some).with_context(|| format!("{flag} {text}: too large"))
}

/// Writes a file of data that no layer could take for nothing.
pub fn fill(path: &Path, size: u64) -> Result<()> {
    let mut file = File::create(path).with_context(|| format!("making {}", path.display()))?;
    let piece: Vec<u8> = (0..size.min(PIECE as u64)).map(|index| (index % 251) as u8).collect();
    let mut left = size;
    while left > 0 {
        let part = left.min(PIECE as u64) as usize;
        file.write_all(&piece[..part]).with_context(|| format!("writing {}", path.display()))?;
        left -= part as u64;
    }
    Ok(())
}

/// Makes a tree of small files, 50 in a directory.
pub fn tree(top: &Path, files: u64) -> Result<()> {
    grow(top, files, LENGTHS, |number| format!("{:04}", number / FILES_EACH).into())
}

/// Makes a tree of small files as source code has them, six directories deep.
pub fn deep_tree(top: &Path, files: u64) -> Result<()> {
    grow(top, files, DEEP_LENGTHS, deep_directory)
}

/// The directory of a file in a deep tree.
pub fn deep_directory(number: u64) -> PathBuf {
    let lowest = number / DEEP_FILES_EACH;
    (0..LEVELS).rev().map(|level| (lowest >> (2 * level)).to_string()).collect()
}

fn grow(top: &Path, files: u64, lengths: (u64, u64), directory: impl Fn(u64) -> PathBuf) -> Result<()> {
    let mut random = Random::new(SEED);
    for number in 0..files {
        let directory = top.join(directory(number));
        fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
        let length = lengths.0 + random.below(lengths.1 - lengths.0);
        fill(&directory.join(format!("{number:06}")), length)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_howdah_bench_reads_them() {
        let options = ["--record", "1M", "--size", "500M"].map(str::to_owned);
        assert_eq!(size(&options, "--size").expect("a size"), Some(500 << 20));
        assert_eq!(size(&options, "--files").expect("nothing"), None);
        for wrong in ["1T", "x", "99999999999G"] {
            assert!(size(&["--size".to_owned(), wrong.to_owned()], "--size").is_err(), "{wrong}");
        }
        assert!(size(&["--size".to_owned()], "--size").is_err());
    }
}
