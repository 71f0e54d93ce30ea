//! The layers of a mount, around the client.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use howdah_client::Remote;
use howdah_client::connect::{ConnectError, ConnectOptions, HandleFileUse};
use howdah_layers::{AttributeCacheOptions, BehindOptions, Cached, CachingOptions, NamesBehind};
use howdah_units::counted;
use howdah_vfs::{Consistency, FileSystem, Handle};

use super::journals::{find_journal, handle_file, open_journal, with_version_of_journal};
use super::options::MountSettings;
use crate::places::{DiskCacheUse, cached_at, connect_to, expected};
use crate::screen;

/// So long a mount waits for the process of an earlier one to end, which still has the file of handles, and looks so often.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

/// Connects to the server of a mount. What outlives the mount, a journal or a cache on disk, names files by their handles, so these do, too.
pub fn connect_for_mount(settings: &MountSettings) -> Result<Arc<dyn Remote>> {
    let has_journal = settings.behind.is_some() && settings.journal;
    if !has_journal && settings.disk.is_none() {
        return connect_to(&settings.url, &ConnectOptions::default());
    }
    let named = settings.journals.as_deref().filter(|_| has_journal);
    let url = if has_journal { &with_version_of_journal(&settings.url, named)? } else { &settings.url };
    let handle_file = match handle_file(&settings.url, named) {
        Err(error) if !has_journal => {
            tracing::warn!("the cache on disk is of no use after this mount: {error:#}");
            return connect_to(&settings.url, &ConnectOptions::default());
        }
        // A journal must not name files by handles that are nowhere.
        path => Some(HandleFileUse { path: path?, at_once: has_journal }),
    };
    let options = ConnectOptions { handle_file, ..ConnectOptions::default() };
    let give_up = Instant::now() + PATIENCE;
    loop {
        let error = match connect_to(url, &options) {
            Err(error) if is_in_use(&error) => error,
            outcome => return outcome,
        };
        if Instant::now() < give_up {
            thread::sleep(LOOK);
        } else if has_journal {
            return Err(error);
        } else {
            tracing::warn!("the cache on disk is of no use after this mount: {error:#}");
            return connect_to(&settings.url, &ConnectOptions::default());
        }
    }
}

fn is_in_use(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(ConnectError::Nfs4 { cause, .. }) => cause.is_handle_file_in_use(),
        _ => false,
    }
}

/// The layers of a mount.
#[derive(Clone)]
pub struct Layers {
    /// Caches in memory.
    pub cached: Arc<Cached>,
    /// Where data is kept on disk.
    pub disk: Option<Arc<DiskCacheUse>>,
    /// Where names are written behind.
    pub behind: Option<Arc<NamesBehind>>,
}

impl Layers {
    /// Attributes remembered, files read ahead, writes gathered; and names written behind, at most so late. `root`: what is mounted.
    pub fn around(client: Arc<dyn Remote>, settings: &MountSettings, root: Handle) -> Result<Self> {
        let write_size = client.sizes().write as usize;
        let (cached, disk) = cached(Arc::clone(&client), settings);
        let disk = disk.map(Arc::new);
        let behind = settings.behind.map(|late| {
            let options = BehindOptions { late, write_size, root: Some(root), ..BehindOptions::default() };
            behind(&cached, client, settings, options).map(Arc::new)
        });
        let behind = behind.transpose()?;
        if behind.is_none() || !settings.journal {
            warn_of_journal(settings);
        }
        Ok(Self { cached, disk, behind })
    }

    /// What is mounted.
    pub fn files(&self) -> (Arc<dyn FileSystem>, Arc<dyn Consistency>) {
        match &self.behind {
            Some(behind) => (Arc::clone(behind) as _, Arc::clone(behind) as _),
            None => (Arc::clone(&self.cached) as _, Arc::clone(&self.cached) as _),
        }
    }

    /// Waits until all that is written behind is on the server, or was refused there.
    pub fn settle(&self) {
        if let Some(behind) = &self.behind {
            behind.settle_all();
        }
    }

    /// What the server refused after programs were answered, a line for each.
    pub fn refused(&self) -> Vec<String> {
        let refused = self.behind.as_ref().map(|behind| behind.refused()).unwrap_or_default();
        let line = |refused: &howdah_layers::RefusedLater| {
            format!("{} of {}: {}", refused.kind, refused.path.escape_ascii(), refused.why)
        };
        refused.iter().map(line).collect()
    }
}

fn behind(
    cached: &Arc<Cached>,
    client: Arc<dyn Remote>,
    settings: &MountSettings,
    options: BehindOptions,
) -> Result<NamesBehind> {
    let start = Instant::now();
    let stopwatch = Arc::new(move || start.elapsed());
    let (files, consistency) = (Arc::clone(cached) as _, Arc::clone(cached) as _);
    let started = if settings.journal {
        let journal = open_journal(&settings.url, client, settings.journals.as_deref(), settings.adopt)?;
        if let Some(missing) = journal.1.missing {
            let when =
                jiff::Timestamp::try_from(missing.counted).map_or(String::new(), |when| when.to_string());
            tracing::error!(
                "the journal of an earlier mount is missing or empty: up to {} of {when} may be lost",
                counted(missing.changes, "change", "changes")
            );
        }
        for kept in &journal.1.set_aside {
            tracing::error!("a part of the journal was damaged, and was set aside as {}", kept.display());
        }
        NamesBehind::with_journal(files, consistency, options, key(), journal, stopwatch)
    } else {
        NamesBehind::around(files, consistency, options, key(), stopwatch)
    };
    started.context("starting to write names behind")
}

/// An earlier mount left changes that this one does not send: what is changed meanwhile and what they say contradict each other later.
fn warn_of_journal(settings: &MountSettings) {
    let Ok(Some(journal)) = find_journal(&settings.url, settings.journals.as_deref()) else { return };
    if let Some(count) = journal.summary.changes.filter(|count| *count > 0) {
        let (changes, url) = (counted(count, "change", "changes"), journal.url());
        screen::complain(&format!(
            "howdah: an earlier mount left {changes} that are not on the server, and this mount does not send them. Send them before you \
             change anything: howdah sync {url}"
        ));
    }
}

/// Sixteen bytes that no other mount has.
fn key() -> [u8; 16] {
    let random = RandomState::new();
    let half = |number: u32| random.hash_one((number, std::process::id(), Instant::now())).to_ne_bytes();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&half(0));
    key[8..].copy_from_slice(&half(1));
    key
}

fn cached(client: Arc<dyn Remote>, settings: &MountSettings) -> (Arc<Cached>, Option<DiskCacheUse>) {
    let believed = &settings.believed;
    let aged = AttributeCacheOptions {
        file_min: believed.file_min,
        file_max: believed.file_max,
        directory_min: believed.directory_min,
        directory_max: believed.directory_max,
        lookups: believed.lookups,
        absence: believed.absence,
        ..AttributeCacheOptions::default()
    };
    let attributes = if settings.alone { AttributeCacheOptions::alone() } else { aged };
    let sizes = client.sizes();
    let options = CachingOptions {
        attributes,
        read_size: sizes.read as usize,
        write_size: sizes.write as usize,
        expected: expected(&*client),
        ..CachingOptions::default()
    };
    cached_at(&settings.url, client, options, settings.disk.as_ref())
}
