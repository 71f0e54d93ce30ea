//! Where a file lies on its disk.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The unit that filefrag(8) counts in.
const UNIT: usize = 512;

/// The bytes of the disk that hold a file's.
pub fn places_of(file: &Path) -> Result<Vec<Range<usize>>> {
    let unit = format!("-b{UNIT}");
    let output =
        Command::new("filefrag").args([&unit, "-e", "-v"]).arg(file).output().context("starting filefrag")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "filefrag: {}", String::from_utf8_lossy(&output.stderr).trim());
    let places = parse(&text);
    ensure!(!places.is_empty(), "filefrag does not tell where {} lies: {text}", file.display());
    Ok(places)
}

/// Its table: number, place in the file, place on the disk (first to last), length, and more.
fn parse(text: &str) -> Vec<Range<usize>> {
    let place = |line: &str| {
        let mut columns = line.split(':');
        columns.next()?.trim().parse::<usize>().ok()?;
        let (first, last) = columns.nth(1)?.split_once("..")?;
        let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
        Some(first * UNIT..(last + 1) * UNIT)
    };
    text.lines().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read() {
        let text = "Filesystem type is: ef53\nFile size of /f is 1048576 (2048 blocks of 512 bytes)\n \
            ext:     logical_offset:        physical_offset: length:   expected: flags:\n   \
            0:        0..      15:     34816..     34831:     16:\n   \
            1:       16..    2047:     69632..     71663:   2032:      34832: last,unwritten,eof\n/f: 2 extents found\n";
        assert_eq!(parse(text), [34816 * 512..34832 * 512, 69632 * 512..71664 * 512]);
        assert_eq!(parse("/f: 0 extents found\n"), []);
    }
}
