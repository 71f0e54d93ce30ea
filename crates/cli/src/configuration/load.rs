//! The two ways in: from the command line, and from a file alone.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::defaults::LARGEST_FILE;
use super::file::{FileSettings, read};
use super::from_flags::{decide, the_one_export};
use super::{Problems, ServerConfig};
use crate::arguments::{LogArguments, ServeArguments, ServerArguments};

/// What these arguments mean; reads the file that they name, again at every call.
pub fn load_arguments(arguments: &ServeArguments) -> Result<ServerConfig> {
    let mut file = match &arguments.server.config {
        Some(path) => settings(path, text(path)?, &arguments.server)?,
        None => FileSettings::default(),
    };
    if let Some(what) = &arguments.what {
        file.exports = vec![the_one_export(what, arguments)?];
    }
    decide(&arguments.server, &arguments.log, file)
}

/// What this file means to a server that is given no flags.
pub fn load_file(path: &Path) -> Result<ServerConfig> {
    load_text(path, text(path)?)
}

/// What this text, of a file of this name, means to a server that is given no flags.
pub fn load_text(name: &Path, text: String) -> Result<ServerConfig> {
    let flags = ServerArguments::default();
    decide(&flags, &LogArguments::default(), settings(name, text, &flags)?)
}

fn settings(name: &Path, text: String, flags: &ServerArguments) -> Result<FileSettings> {
    read(&text, &flags.admin_listen())
        .map_err(|problems| Problems::new(name.to_owned(), text, problems).into())
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
