//! The state number of this host's status monitor (NSM): odd, and two more with each start, so that clients see that it restarted.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use super::private_files::private_file;

const NAME: &str = "nsm-state";
const NEW_NAME: &str = "nsm-state.new";

/// The number after the one that an earlier run left in this directory; durable when this returns. `None` if it cannot be written: then
/// the time makes another one than before.
///
/// # Errors
/// It cannot be read, or is no number.
pub fn next_state_number(directory: &Path) -> io::Result<Option<u32>> {
    let (path, new) = (directory.join(NAME), directory.join(NEW_NAME));
    let last = match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse::<u32>().map_err(|_| {
            let what = format!("{NAME} contains no number; remove the file to start with 1");
            io::Error::new(ErrorKind::InvalidData, what)
        })?,
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    // Some clients take it for a signed number.
    let next = last.wrapping_add(if last % 2 == 0 { 1 } else { 2 }) & (u32::MAX >> 1);
    let write = || {
        let mut file = private_file(&new)?;
        writeln!(file, "{next}")?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(directory)?.sync_all()
    };
    Ok(write().inspect_err(|error| tracing::debug!(%error, "writing {NAME}")).is_ok().then_some(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_odd_and_rises_with_each_start() {
        let directory = tempfile::tempdir().expect("a directory");
        let next = || next_state_number(directory.path()).expect("a number");
        assert_eq!([next(), next(), next()], [1, 3, 5].map(Some));
        fs::write(directory.path().join(NAME), format!("{}", u32::MAX >> 1)).expect("written");
        assert_eq!(next(), Some(1), "around");
        fs::create_dir(directory.path().join(NEW_NAME)).expect("in the way");
        assert_eq!(next(), None);
        fs::write(directory.path().join(NAME), "x").expect("written");
        next_state_number(directory.path()).expect_err("no number");
    }
}
