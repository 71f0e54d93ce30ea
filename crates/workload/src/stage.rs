//! The fresh directory that workloads run in, and its end.

use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use howdah_vfs::{Change, Detail, FsError, Handle, ListDirectory};
use parking_lot::Mutex;

use super::call;
use super::file_set::FileSet;
use super::names::{DIRECTORY, ours, parsed};
use super::performance::Deeds;
use super::place::Place;

/// A directory of our own in a place, and the files that one workload leaves for the next.
pub struct Stage {
    pub(super) place: Place,
    pub(super) directory: Handle,
    pub(super) kept: Mutex<Option<FileSet>>,
    name: String,
}

impl Stage {
    /// Makes the directory. Refuses a place that holds something, unless `beside_others`.
    pub fn set_up(place: Place, beside_others: bool) -> Result<Self> {
        let found = names(&place, &place.directory).with_context(|| format!("listing {}", place.name))?;
        if let (Some(first), false) = (found.first(), beside_others) {
            let more = match found.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            bail!(
                "{} is not empty: it contains \"{}\"{more}; name an empty directory, or allow it with --non-empty \
                 (what is there is left alone)",
                place.name,
                first.escape_ascii()
            );
        }
        // Unlike every other one, so that "exists" can only be the answer to a repeated call.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("{DIRECTORY}{}-{}", std::process::id(), now.as_nanos());
        let made = call::make_directory(&place, &place.directory, &name)
            .with_context(|| format!("making a directory in {} as user {}", place.name, place.caller.user))?;
        Ok(Self { place, directory: made.handle, kept: Mutex::default(), name })
    }

    /// What the directory is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Removes what workloads made, and the directory. What somebody else put there stays, and is reported.
    pub fn clear_up(self) -> Result<()> {
        self.remove_files()?;
        let Self { place, name, .. } = &self;
        let removed = place.file_system.remove_directory(
            &place.caller,
            &place.directory,
            parsed(name),
            &mut Change::default(),
        );
        match removed {
            Err(FsError::NotFound) if place.kind.may_repeat_calls() => Ok(()),
            other => other.with_context(|| format!("removing the directory {name} in {}", place.name)),
        }
    }

    /// Removes every file that has one of our names.
    pub(super) fn remove_files(&self) -> Result<()> {
        self.kept.lock().take();
        let mut deeds = Deeds::default();
        // Again until nothing is left, for a file system may lose its place in a directory that shrinks.
        loop {
            let mut left = names(&self.place, &self.directory).context("listing what to remove")?;
            left.retain(|name| ours(name).is_some());
            if left.is_empty() {
                return Ok(());
            }
            for name in left.iter().filter_map(|name| str::from_utf8(name).ok()) {
                call::remove(&self.place, &self.directory, name, &mut deeds)
                    .with_context(|| format!("removing {name}"))?;
            }
        }
    }
}

/// All names in a directory but `.` and `..`.
pub(super) fn names(place: &Place, directory: &Handle) -> howdah_vfs::Result<Vec<Vec<u8>>> {
    names_with(place, directory, Detail::Names)
}

/// The same, with attributes and handles or without.
pub(super) fn names_with(
    place: &Place,
    directory: &Handle,
    detail: Detail,
) -> howdah_vfs::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    let mut cookie = 0;
    loop {
        let from = cookie;
        let mut sink = |entry: howdah_vfs::Entry<'_>| {
            cookie = entry.cookie;
            if !matches!(entry.name, b"." | b"..") {
                names.push(entry.name.to_vec());
            }
            ControlFlow::Continue(())
        };
        let caller = &place.caller;
        let listing = place.file_system.read_directory(
            caller,
            ListDirectory::new(directory, from, detail),
            &mut sink,
        )?;
        if listing.end || cookie == from {
            return Ok(names);
        }
    }
}
