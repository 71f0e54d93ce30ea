//! Questions to the admin socket of a server.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};

/// An answer that has not come after this long does not come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the admin socket; the body of the answer.
pub fn ask(socket: &Path, path: &str) -> anyhow::Result<String> {
    let mut stream = UnixStream::connect(socket).with_context(|| format!("asking for {path}"))?;
    stream.set_read_timeout(Some(PATIENCE)).with_context(|| format!("asking for {path}"))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: howdah\r\nAccept: application/openmetrics-text\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(|| format!("reading {path}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").context("an answer of HTTP has a head")?;
    ensure!(head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200"), "refused: {head}");
    Ok(body.to_owned())
}
