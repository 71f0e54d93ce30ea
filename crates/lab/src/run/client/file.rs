//! A file for clients that move one: its size as the options say it, and data for it.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// The file, if the plan does not say: 500 MiB, as in 2008.
pub const USUAL_SIZE: u64 = 500 << 20;

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
    let piece: Vec<u8> = (0..PIECE).map(|index| (index % 251) as u8).collect();
    let mut left = size;
    while left > 0 {
        let part = left.min(PIECE as u64) as usize;
        file.write_all(&piece[..part]).with_context(|| format!("writing {}", path.display()))?;
        left -= part as u64;
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
