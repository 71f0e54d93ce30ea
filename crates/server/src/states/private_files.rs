//! Files and directories that only the server's own user may change: another user who may write there could have root overwrite any
//! file, or lie about the clients of a head. Knows nothing of what the files hold.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::process::geteuid;

/// For their owner only: the keys and records in them are enough to forge handles.
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Group and others may write.
const OTHERS_WRITE: u32 = 0o022;

/// Makes a directory for its owner alone, with the directories above it. One that exists is used if no other user can change it; it may
/// be a link that this user or root made.
///
/// # Errors
/// It cannot be made, or another user can change it.
pub fn private_directory(path: &Path) -> io::Result<()> {
    let Some(found) = made_or_found(path, true)? else { return Ok(()) };
    let target = fs::metadata(path)?;
    if found.is_symlink() && ![0, geteuid().as_raw()].contains(&found.uid()) {
        let what = format!("{} is a link that user {} made; remove it", path.display(), found.uid());
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    refuse_foreign(path, &target, OTHERS_WRITE)
}

/// The same inside a directory that is private already, where nobody makes links on purpose.
///
/// # Errors
/// As [`private_directory`], or it is a link.
pub fn private_part(path: &Path) -> io::Result<()> {
    let Some(found) = made_or_found(path, false)? else { return Ok(()) };
    if found.is_symlink() {
        let what = format!("{} is a link where a directory belongs; remove it", path.display());
        return Err(io::Error::new(ErrorKind::PermissionDenied, what));
    }
    refuse_foreign(path, &found, OTHERS_WRITE)
}

/// What is at this path already; `None` where a new directory was made.
fn made_or_found(path: &Path, with_parents: bool) -> io::Result<Option<Metadata>> {
    // Not by `recursive` for the last one: that takes any directory for its own.
    if let Some(parent) = path.parent().filter(|_| with_parents) {
        DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(parent)?;
    }
    match DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {
            fs::symlink_metadata(path).map(Some)
        }
        made => made.map(|()| None),
    }
}

/// A new file for its owner alone. What had its name before is removed: the rest of a run that was killed, or a link, which is not
/// followed.
///
/// # Errors
/// It cannot be made.
pub fn private_file(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Refuses what another user owns, or what others have any of these rights to.
///
/// # Errors
/// It is such a file or directory; the error says which, and what to do.
pub fn refuse_foreign(path: &Path, found: &Metadata, others: u32) -> io::Result<()> {
    let me = geteuid().as_raw();
    let shown = path.display();
    let what = if found.uid() != me {
        format!("{shown} belongs to user {}, not to user {me}, who runs howdah; chown {me} it", found.uid())
    } else if found.mode() & others != 0 {
        let (rights, mode) = if others & 0o044 == 0 { ("change", "w") } else { ("read or change", "rwx") };
        format!("others may {rights} it; chmod go-{mode} {shown}")
    } else {
        return Ok(());
    };
    Err(io::Error::new(ErrorKind::PermissionDenied, what))
}

/// Whether nothing can be written because the disk is full, or a quota is used up.
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

/// The same, or because the file system is read-only: what is there can be read all the same.
pub fn is_unwritable(error: &io::Error) -> bool {
    is_full(error) || error.kind() == ErrorKind::ReadOnlyFilesystem
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    use super::super::head_records::HeadRecords;
    use super::super::head_report::HeadReport;
    use super::super::head_settings::HeadSettings;
    use super::super::own_rights::OwnRights;
    use super::super::record_file::RecordFile;
    use super::super::state_number::next_state_number;
    use super::*;

    const SECRET: &str = "root's own\n";

    /// All that a head writes, in this directory.
    fn write_all(records: &Path) -> io::Result<()> {
        let head = HeadRecords::open(records, 1, OwnRights::always())?;
        let run = head.begin_run()?;
        head.agree(&HeadSettings { scope: [1; 16], exports: Vec::new(), addresses: Default::default() })?;
        head.own()?;
        head.take([192, 0, 2, 1].into(), None)?;
        head.publish(&HeadReport::default())?;
        run.beat()?;
        // Shows the file of the run as it was left.
        std::mem::forget(run);
        RecordFile::open(records, OwnRights::always())?;
        next_state_number(records).map(drop)
    }

    fn files(below: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(below).expect("a directory").map(|entry| entry.expect("read").path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_record_is_its_owners_alone() {
        let home = tempfile::tempdir().expect("a directory");
        // The home is as the umask of other tests makes it.
        let records = home.path().join("records");
        write_all(&records).expect("written");
        let files = files(&records);
        assert!(files.len() >= 6, "{files:?}");
        for file in files {
            let mode = fs::metadata(&file).expect("there").mode() & 0o777;
            assert_eq!(mode, FILE_MODE, "{}", file.display());
        }
    }

    #[test]
    fn no_link_is_written_through() {
        let home = tempfile::tempdir().expect("a directory");
        let (records, victim) = (home.path().join("records"), home.path().join("victim"));
        write_all(&records).expect("written");
        let drafts = ["report.new", "settings.new", "clients.log.new", &std::process::id().to_string()];
        let head = records.join("heads/0000000000000001");
        let mut links: Vec<PathBuf> = files(&records);
        links.extend(drafts.map(|draft| head.join(draft)));
        links.push(head.join(format!("running.{}", std::process::id())));
        links.push(records.join("addresses/192.0.2.1.0000000000000001"));
        links.extend(["nsm-state.new", "clients.log.new"].map(|draft| records.join(draft)));
        for link in links {
            fs::remove_dir_all(&records).expect("removed");
            fs::create_dir_all(link.parent().expect("below the records")).expect("made");
            fs::write(&victim, SECRET).expect("written");
            symlink(&victim, &link).expect("linked");
            // A record that is a link may be refused; its target stays in any case.
            let _ = write_all(&records);
            assert_eq!(fs::read_to_string(&victim).expect("there"), SECRET, "{}", link.display());
        }
    }

    #[test]
    fn a_directory_that_others_can_change_is_refused() {
        for part in ["", "addresses", "heads", "heads/0000000000000001"] {
            let home = tempfile::tempdir().expect("a directory");
            let records = home.path().join("records");
            write_all(&records).expect("written");
            let place = records.join(part);
            fs::set_permissions(&place, fs::Permissions::from_mode(0o770)).expect("set");
            let refused = write_all(&records).expect_err("others may write").to_string();
            assert!(refused.contains("chmod go-w"), "{part}: {refused}");
            fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).expect("set");
            if geteuid().is_root() {
                std::os::unix::fs::chown(&place, Some(1000), None).expect("given away");
                let refused = write_all(&records).expect_err("another user's").to_string();
                assert!(refused.contains("belongs to user 1000"), "{part}: {refused}");
            }
        }
    }

    #[test]
    fn a_link_in_place_of_a_part_is_refused_and_to_the_whole_taken() {
        let home = tempfile::tempdir().expect("a directory");
        let (records, elsewhere) = (home.path().join("records"), home.path().join("elsewhere"));
        DirBuilder::new().mode(0o700).create(&elsewhere).expect("made");
        symlink(&elsewhere, &records).expect("linked");
        write_all(&records).expect("a link of this user");
        for part in ["addresses", "heads", "heads/0000000000000001"] {
            fs::rename(elsewhere.join(part), home.path().join("moved")).expect("moved");
            symlink(home.path().join("moved"), elsewhere.join(part)).expect("linked");
            let refused = write_all(&records).expect_err("a link").to_string();
            assert!(refused.contains("is a link"), "{part}: {refused}");
            fs::remove_file(elsewhere.join(part)).expect("removed");
            fs::rename(home.path().join("moved"), elsewhere.join(part)).expect("back");
        }
        if geteuid().is_root() {
            std::os::unix::fs::lchown(&records, Some(1000), None).expect("given away");
            let refused = write_all(&records).expect_err("another user's link").to_string();
            assert!(refused.contains("a link that user 1000 made"), "{refused}");
        }
    }
}
