//! Asking a head.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use howdah_client::connect::{ConnectOptions, own_caller, resolve, tls_of};
use howdah_client::mount::Inquiry;
use howdah_config::DEFAULT_PORT;
use howdah_daemon::places::connect_to;
use howdah_vfs::{
    Caller, Change, CommitFile, Detail, Entry, FileKind, FileSystem, ListDirectory, Name, Shown,
};

use super::ClusterHead;
use super::answers::{ExportAnswers, HeadAnswers, SeenExport};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many names of an export are compared.
const NAMES: usize = 32;

/// Asks a head for all that is compared. `names` are those of the exports that were seen at another head; where there are none, some
/// are listed.
pub fn ask(head: &ClusterHead, other: Option<&HeadAnswers>) -> Result<HeadAnswers> {
    let port = head.url.port.unwrap_or(DEFAULT_PORT);
    let address = resolve(&head.url.host, port).with_context(|| format!("looking up {head}"))?[0];
    let asked = Inquiry {
        address,
        caller: head.url.caller(own_caller()),
        patience: PATIENCE,
        tls: tls_of(&head.url)?,
    };
    let exports = asked.exports().with_context(|| format!("asking {head} for its exports"))?;
    let exports = exports.iter().map(|path| {
        let name = Shown(path).to_string();
        let names = other.and_then(|other| other.exports.get(&name)?.as_ref().ok()).map(|seen| &seen.names);
        let answers = look(head, path, names.map(|names| names.keys().cloned().collect()));
        (name, answers)
    });
    Ok(HeadAnswers { exports: exports.collect(), ahead: ahead(&asked) })
}

/// Seconds by which its clock is ahead of this host's.
fn ahead(asked: &Inquiry) -> Option<i64> {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let before = now();
    let clock = asked.clock().ok()?;
    let between = (before + now()) / 2;
    Some(clock as i64 - between.as_secs() as i64)
}

fn look(head: &ClusterHead, path: &[u8], names: Option<Vec<String>>) -> ExportAnswers {
    let parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec);
    let mut url = head.url.with_path(parts.collect());
    url.port = Some(url.port.unwrap_or(DEFAULT_PORT));
    let options = ConnectOptions { patience: PATIENCE, ..ConnectOptions::default() };
    let client = connect_to(&url, &options).map_err(|error| format!("{error:#}"))?;
    see(&*client, &url.caller(own_caller()), names).map_err(|error| error.to_string())
}

fn see(fs: &dyn FileSystem, caller: &Caller, names: Option<Vec<String>>) -> howdah_vfs::Result<SeenExport> {
    let root = fs.root();
    let attributes = fs.attributes(caller, &root)?;
    let statistics = fs.statistics(caller, &root)?;
    let mut seen = SeenExport {
        root: root.as_bytes().to_vec(),
        file_system: attributes.file_system,
        file: attributes.file,
        bytes: statistics.total_bytes,
        ..SeenExport::default()
    };
    // Without permission to list the root, fewer files are compared.
    for name in names.unwrap_or_else(|| some_names(fs, caller)) {
        let Some(found) =
            Name::parse(name.as_bytes()).ok().and_then(|name| fs.lookup(caller, &root, name).ok())
        else {
            continue;
        };
        let node = found.node;
        if node.attributes.kind == FileKind::Regular && seen.verifier.is_none() {
            let committed = fs.commit(caller, CommitFile::new(&node.handle, 0, 0), &mut Change::default());
            seen.verifier = committed.ok().map(|committed| committed.verifier);
        }
        seen.names.insert(name, (node.handle.as_bytes().to_vec(), node.attributes.file));
    }
    Ok(seen)
}

/// Some names of the root that are text.
fn some_names(fs: &dyn FileSystem, caller: &Caller) -> Vec<String> {
    let mut names = Vec::new();
    let mut keep = |entry: Entry<'_>| {
        let text = std::str::from_utf8(entry.name).ok().filter(|name| !matches!(*name, "." | ".."));
        names.extend(text.map(str::to_owned));
        if names.len() < NAMES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let _ = fs.read_directory(caller, ListDirectory::new(&fs.root(), 0, Detail::Names), &mut keep);
    names
}
