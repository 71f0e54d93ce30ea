//! From a file, or from its text, to what it means.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::defaults::LARGEST_FILE;
use super::file::{FileSettings, read};
use super::{AdminListenSaid, Problems, ServerConfig};

/// What this file means to a server that is given no flags.
pub fn load_file(path: &Path) -> Result<ServerConfig> {
    load_text(path, text(path)?)
}

/// What this text, of a file of this name, means to a server that is given no flags.
pub fn load_text(name: &Path, text: String) -> Result<ServerConfig> {
    settings(name, text, &AdminListenSaid::default())?.decide()
}

/// What this file says. Flags may say the rest of what it says of the admin interface.
pub fn read_file(path: &Path, flags: &AdminListenSaid) -> Result<FileSettings> {
    settings(path, text(path)?, flags)
}

fn settings(name: &Path, text: String, flags: &AdminListenSaid) -> Result<FileSettings> {
    read(&text, flags).map_err(|problems| Problems::new(name.to_owned(), text, problems).into())
}

fn text(path: &Path) -> Result<String> {
    text_of(path).with_context(|| format!("reading the configuration {}", path.display()))
}

fn text_of(path: &Path) -> Result<String> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        bail!("larger than {} MiB", LARGEST_FILE >> 20);
    }
    String::from_utf8(bytes).map_err(|_| anyhow!("not text in UTF-8; is it a configuration?"))
}
