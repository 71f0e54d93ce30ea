//! `howdah lab report`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow};
use howdah_lab::record::ResultDirectory;
use howdah_lab::report::write;

use crate::arguments::ReportArguments;
use crate::commands::Failure;
use crate::report;

/// Where results go by default.
const RESULTS: &str = "lab-results";

/// Writes it, and says where.
pub fn run(arguments: &ReportArguments) -> Result<(), Failure> {
    let path = arguments.directory.clone().map_or_else(|| latest(Path::new(RESULTS)), Ok);
    let directory = path.and_then(|path| ResultDirectory::open(&path)).map_err(Failure::Usage)?;
    let written = write(&directory)?;
    if !arguments.quiet {
        report::print(&format!("report: {}\n", written.display()));
    }
    Ok(())
}

/// The result directory whose plan was written last.
fn latest(home: &Path) -> Result<PathBuf> {
    let none =
        || anyhow!("there are no results in {}: name a directory, or run a plan first", home.display());
    let entries = fs::read_dir(home).map_err(|error| anyhow::Error::new(error).context(none()))?;
    let mut found: Option<(SystemTime, PathBuf)> = None;
    for entry in entries {
        let path = entry.with_context(|| format!("reading {}", home.display()))?.path();
        let begun = fs::metadata(path.join("plan.toml")).and_then(|plan| plan.modified());
        if let Ok(begun) = begun
            && found.as_ref().is_none_or(|(latest, known)| (*latest, known) < (begun, &path))
        {
            found = Some((begun, path));
        }
    }
    found.map(|(_, path)| path).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_latest_is_the_one_that_was_begun_last() {
        let home = tempfile::tempdir().expect("a directory");
        assert!(latest(home.path()).is_err() && latest(&home.path().join("nowhere")).is_err());
        for (name, seconds) in [("b-1", 100), ("a-2", 300), ("c-3", 200)] {
            fs::create_dir(home.path().join(name)).expect("made");
            let plan = File::create(home.path().join(name).join("plan.toml")).expect("made");
            plan.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("set");
        }
        fs::create_dir(home.path().join("no-results")).expect("made");
        assert_eq!(latest(home.path()).expect("found"), home.path().join("a-2"));
    }
}
