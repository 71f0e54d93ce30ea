//! `howdah refused`.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, fchown, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use howdah_daemon::mounts::{FoundJournal, found_journals, mount_of_process};
use howdah_store::journal::{RefusedChange, RefusedEntry, RefusedStore};
use howdah_units::size;
use rustix::fs::OFlags;
use rustix::process::geteuid;
use serde_json::json;

use super::Failure;
use crate::arguments::{RefusedArguments, RefusedCommand};
use crate::report;

const NOTHING: &str = "no change was refused\n";

/// A refused change, and where it is kept.
struct Kept {
    number: String,
    journal: FoundJournal,
    entry: RefusedEntry,
}

/// Does what was asked with refused changes.
pub fn run(arguments: &RefusedArguments) -> Result<(), Failure> {
    let kept = all(arguments.journals.as_deref())?;
    match arguments.command.as_ref().unwrap_or(&RefusedCommand::List { json: false }) {
        RefusedCommand::List { json } => {
            list(&kept, *json);
            Ok(())
        }
        RefusedCommand::Save { directory, numbers } => {
            each(named(&kept, numbers)?, |kept, store| save(kept, store, directory))
        }
        RefusedCommand::Retry { numbers } => {
            each(named(&kept, numbers)?, |kept, store| retry(kept, store, arguments.state.as_deref()))
        }
        RefusedCommand::Drop { numbers, .. } => each(named(&kept, numbers)?, |kept, store| {
            store.remove(kept.entry.id)?;
            Ok(format!("{} is dropped", kept.number))
        }),
    }
}

fn all(journals: Option<&Path>) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    for journal in found_journals(journals)? {
        let (_, entries) = journal.refused()?;
        kept.extend(entries.into_iter().map(|entry| Kept {
            number: format!("{}-{}", journal.short_name(), entry.id),
            journal: journal.clone(),
            entry,
        }));
    }
    Ok(kept)
}

/// Those with these numbers, or all if there are none.
fn named<'k>(kept: &'k [Kept], numbers: &[String]) -> Result<Vec<&'k Kept>, Failure> {
    if numbers.is_empty() {
        return Ok(kept.iter().collect());
    }
    let find = |number: &String| {
        kept.iter().find(|kept| kept.number == *number).ok_or_else(|| {
            Failure::Usage(anyhow!("there is no refused change {number}; howdah refused lists them"))
        })
    };
    numbers.iter().map(find).collect()
}

/// Does something with each; one that fails stops none of the others.
fn each(kept: Vec<&Kept>, run: impl Fn(&Kept, &RefusedStore) -> Result<String>) -> Result<(), Failure> {
    if kept.is_empty() {
        report::print(NOTHING);
    }
    let mut failed = false;
    for kept in kept {
        let (store, _) = kept.journal.refused()?;
        match run(kept, &store) {
            Ok(line) => report::print(&format!("{line}\n")),
            Err(error) => {
                failed = true;
                report::complain(&format!("howdah: {}: {error:#}", kept.number));
            }
        }
    }
    if failed { Err(Failure::Told) } else { Ok(()) }
}

fn list(kept: &[Kept], is_json: bool) {
    if is_json {
        let value = |kept: &Kept| {
            let change = kept.entry.change.as_ref();
            json!({
                "number": kept.number,
                "url": kept.journal.url(),
                "kind": change.map(|change| &change.kind),
                "path": change.map(|change| String::from_utf8_lossy(&change.path).into_owned()),
                "caller": change.map(|change| &change.caller),
                "reason": change.map(|change| &change.reason),
                "time": change.map(|change| change.time),
                "bytes": kept.entry.content,
            })
        };
        report::print(&format!("{:#}\n", json!({ "refused": kept.iter().map(value).collect::<Vec<_>>() })));
        return;
    }
    if kept.is_empty() {
        report::print(NOTHING);
    }
    let mut url = String::new();
    for kept in kept {
        let its = kept.journal.url();
        if its != url {
            report::print(&format!("{its}\n"));
            url = its;
        }
        report::print(&format!("  {}\n", line(kept)));
    }
}

fn line(kept: &Kept) -> String {
    let number = &kept.number;
    let bytes = kept.entry.content.map_or(String::new(), |bytes| format!(" ({})", size(bytes)));
    let Some(change) = &kept.entry.change else {
        return format!("{number}  what it was is damaged{bytes}");
    };
    let when = i64::try_from(change.time).ok().and_then(|time| jiff::Timestamp::from_second(time).ok());
    let when = when.map_or(String::new(), |when| {
        when.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
    });
    let path = change.path.escape_ascii();
    format!("{number}  {when}  {} of {path}{bytes}: {}", change.kind, change.reason)
}

fn save(kept: &Kept, store: &RefusedStore, directory: &Path) -> Result<String> {
    if kept.entry.content.is_none() {
        return Ok(format!("{} has no content", kept.number));
    }
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    let saved = store.save(kept.entry.id, directory)?;
    Ok(format!("{} is in {}", kept.number, saved.display()))
}

/// Makes a change once more through the mount that has its journal.
fn retry(kept: &Kept, store: &RefusedStore, state: Option<&Path>) -> Result<String> {
    let change =
        kept.entry.change.as_ref().context("what it was is damaged: only its content can be saved")?;
    let url = kept.journal.url();
    let mount = mount_of_process(kept.journal.summary.holder, state);
    let mount =
        mount.with_context(|| format!("no mount has this journal: mount {url} with -o behind first"))?;
    let place = |path: &[u8]| -> Result<PathBuf> {
        let below = path.strip_prefix(b"/").with_context(|| {
            format!(
                "only the end of its path is known ({}): howdah refused save DIR {} keeps its content, to be copied by hand",
                path.escape_ascii(),
                kept.number
            )
        })?;
        Ok(mount.directory().join(OsStr::from_bytes(below)))
    };
    let to = place(&change.path)?;
    beneath(mount.directory(), &to)?;
    again(kept, store, change, &to, place).with_context(|| format!("{} of {}", change.kind, to.display()))?;
    store.remove(kept.entry.id)?;
    Ok(format!("{} is done: {} of {}", kept.number, change.kind, to.display()))
}

/// Who wanted a change.
fn owner(change: &RefusedChange) -> Option<(u32, u32)> {
    let (user, group) = change.caller.split_once(':')?;
    Some((user.parse().ok()?, group.parse().ok()?))
}

/// Refuses a path with a symbolic link on it: the maker of the link would choose what is changed.
fn beneath(mount: &Path, to: &Path) -> Result<()> {
    let above = to.parent().context("it has no directory")?;
    let found = fs::canonicalize(above).with_context(|| format!("looking at {}", above.display()))?;
    let is_link = to.symlink_metadata().is_ok_and(|there| there.is_symlink());
    if found != above || !found.starts_with(mount) || is_link {
        bail!("a symbolic link is on its path: save it, and copy it there");
    }
    Ok(())
}

/// Writes a file of a refused change: a new one, or one that holds a part of it.
fn write_file(to: &Path, content: &[u8], mode: u32) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let mut file = match options.clone().create_new(true).mode(mode).open(to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut there = Vec::new();
            let mut file = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(to)?;
            file.read_to_end(&mut there)?;
            if !content.starts_with(&there) {
                bail!("there is a file with other content: save this one, and compare");
            }
            file.seek(io::SeekFrom::Start(0))?;
            file
        }
        file => file?,
    };
    file.write_all(content)?;
    Ok(file)
}

fn again(
    kept: &Kept,
    store: &RefusedStore,
    change: &RefusedChange,
    to: &Path,
    place: impl Fn(&[u8]) -> Result<PathBuf>,
) -> Result<()> {
    let split = change.details.iter().position(|byte| *byte == b' ').context("its details are damaged")?;
    let (mode, other) = (&change.details[..split], &change.details[split + 1..]);
    let mode = std::str::from_utf8(mode).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
    match change.kind.as_str() {
        "make" => {
            let content = match kept.entry.content {
                Some(_) => store.content(kept.entry.id)?,
                None => Vec::new(),
            };
            let file = write_file(to, &content, mode.unwrap_or(0o600))?;
            if geteuid().is_root()
                && let Some((user, group)) = owner(change)
            {
                fchown(&file, Some(user), Some(group))?;
            }
            file.sync_all()?;
        }
        "mkdir" => {
            DirBuilder::new().mode(mode.unwrap_or(0o700)).create(to)?;
            File::open(to)?.sync_all()?;
        }
        "symlink" => symlink(OsStr::from_bytes(other), to)?,
        "set attributes" => {
            let mode = mode.context("times and owners are not kept: set them by hand")?;
            fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
        }
        "rename" => fs::rename(place(other)?, to)?,
        "link" => fs::hard_link(place(other)?, to)?,
        "remove" if to.symlink_metadata()?.is_dir() => fs::remove_dir(to)?,
        "remove" => fs::remove_file(to)?,
        kind => bail!("a {kind} cannot be retried: write the file again"),
    }
    // An answer alone says nothing: the server is to have it.
    if let Some(above) = to.parent() {
        File::open(above)?.sync_all()?;
    }
    Ok(())
}
