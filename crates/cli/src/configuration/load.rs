//! The two ways in: from the command line, and from a file alone.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::defaults::LARGEST_FILE;
use super::file::{FileSettings, read};
use super::from_flags::{decide, the_one_export};
use super::{Problems, ServerConfig};
use crate::arguments::{LogArguments, ServeArguments, ServerArguments};

/// What these arguments mean; reads the file that they name, again at every call.
pub fn load_arguments(arguments: &ServeArguments) -> Result<ServerConfig> {
    let mut file = match &arguments.server.config {
        Some(path) => settings(path)?,
        None => FileSettings::default(),
    };
    if let Some(directory) = &arguments.directory {
        file.exports = vec![the_one_export(directory, &arguments.export)?];
    }
    decide(&arguments.server, &arguments.log, file)
}

/// What this file means to a server that is given no flags.
pub fn load_file(path: &Path) -> Result<ServerConfig> {
    decide(&ServerArguments::default(), &LogArguments::default(), settings(path)?)
}

fn settings(path: &Path) -> Result<FileSettings> {
    let text = text(path).with_context(|| format!("reading the configuration {}", path.display()))?;
    read(&text).map_err(|problems| Problems::new(path.to_owned(), text, problems).into())
}

fn text(path: &Path) -> Result<String> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        bail!("larger than {} MiB", LARGEST_FILE >> 20);
    }
    String::from_utf8(bytes).context("not text in UTF-8")
}
