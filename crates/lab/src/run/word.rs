//! Words of a plan that are one of a few.

use anyhow::{Result, ensure};

/// Refuses a word that is none of those that are possible.
pub fn one_of(key: &str, word: &str, possible: &[&str]) -> Result<()> {
    ensure!(
        possible.contains(&word),
        "{key}: \"{word}\" is unknown; the possible words are {}",
        possible.join(", ")
    );
    Ok(())
}
