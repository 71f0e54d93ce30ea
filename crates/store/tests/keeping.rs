//! What outlives a restart beside handles, and what is let go of at once.

mod common;

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use common::{Place, is_root, myself, with_and_without_privilege, without_privilege};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::{
    Caller, Change, CommitFile, Create, CreateFile, Data, FileSystem, FsError, Handle, Name, NewAttributes,
    ReadFile, Result, SetAttributes, Stability, WriteFile,
};

fn me() -> Caller {
    if is_root() { Caller::ROOT } else { myself() }
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn create(fs: &LocalFileSystem, text: &str, mode: u32) -> Handle {
    let how = Create::Guarded(NewAttributes::with_mode(mode));
    fs.create(&me(), CreateFile::new(&fs.root(), name(text), &how), &mut Change::default())
        .expect("CREATE")
        .handle
}

/// Writes and gives the verifier.
fn write(fs: &LocalFileSystem, file: &Handle) -> Result<[u8; 8]> {
    let (data, stability) = (Data::Bytes(b"data"), Stability::Unstable);
    fs.write(&me(), WriteFile::new(file, 0, data, stability), &mut Change::default())
        .map(|written| written.verifier)
}

fn commit(fs: &LocalFileSystem, file: &Handle) -> [u8; 8] {
    fs.commit(&me(), CommitFile::new(file, 0, 0), &mut Change::default()).expect("COMMIT").verifier
}

#[test]
fn a_restart_keeps_the_write_verifier() {
    with_and_without_privilege("a_restart_keeps_the_write_verifier", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let file = create(&fs, "f", 0o644);
        let verifier = write(&fs, &file).expect("WRITE");
        assert_eq!(commit(&fs, &file), verifier);
        drop(fs);
        let fs = place.open();
        assert_eq!(commit(&fs, &file), verifier, "the page cache outlives the process");
        assert_eq!(write(&fs, &file), Ok(verifier));
        drop(fs);
        let fs = LocalFileSystem::open(&place.export(), Options::default()).expect("opens");
        assert_ne!(write(&fs, &file), Ok(verifier), "without a state directory nothing is known");
    });
}

#[test]
fn what_is_kept_is_for_the_server_alone() {
    with_and_without_privilege("what_is_kept_is_for_the_server_alone", |under| {
        let place = Place::under(under);
        let state = place.state().join("below/state");
        let options = Options { state: Some(state.clone()), ..Options::default() };
        let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
        create(&fs, "f", 0o666);
        drop(fs);
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&state), 0o700);
        for file in std::fs::read_dir(&state).expect("lists").flatten() {
            assert_eq!(mode(&file.path()), 0o600, "{}", file.path().display());
        }
        assert_eq!(mode(&place.export().join("f")), 0o666, "modes are what was asked for");
    });
}

#[test]
fn an_owner_without_privilege_writes_what_its_mode_forbids() {
    without_privilege("an_owner_without_privilege_writes_what_its_mode_forbids", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let file = create(&fs, "f", 0o400);
        assert!(write(&fs, &file).is_ok(), "as made");
        drop(fs);
        let fs = place.open();
        assert!(write(&fs, &file).is_ok(), "and after a restart");
        let metadata = std::fs::metadata(place.export().join("f")).expect("there");
        assert_eq!(metadata.mode() & 0o777, 0o400);
    });
}

/// Files inside the place that are deleted and still held open by this process.
fn held(place: &Place) -> usize {
    let inside = place.export().display().to_string();
    let links = std::fs::read_dir("/proc/self/fd").expect("lists").flatten();
    let targets = links.filter_map(|link| std::fs::read_link(link.path()).ok());
    targets.map(|target| target.display().to_string()).filter(|target| is_held(target, &inside)).count()
}

/// A clone of a mount shows its files from its own root.
fn is_held(target: &str, inside: &str) -> bool {
    target.ends_with(" (deleted)") && (target.starts_with(inside) || target.starts_with("/victim"))
}

#[test]
fn removed_files_give_their_space_back() {
    with_and_without_privilege("removed_files_give_their_space_back", |under| {
        let place = Place::under(under);
        let fs = place.open();
        for text in ["victim-1", "victim-2", "victim-3"] {
            let file = create(&fs, text, 0o644);
            write(&fs, &file).expect("WRITE");
            fs.read(&me(), ReadFile::new(&file, 0, 10), &mut Vec::new()).expect("READ");
        }
        let root = fs.root();
        fs.remove(&me(), &root, name("victim-1"), &mut Change::default()).expect("REMOVE");
        let changes = (&mut Change::default(), &mut Change::default());
        fs.rename(&me(), (&root, name("victim-2")), (&root, name("victim-3")), changes).expect("RENAME");
        assert_eq!(held(&place), 0);
    });
}

#[test]
fn a_mode_that_takes_reading_from_the_owner_stays() {
    with_and_without_privilege("a_mode_that_takes_reading_from_the_owner_stays", |under| {
        for mode in [0o000, 0o200, 0o111] {
            let place = Place::under(under);
            let fs = place.open();
            // Made by another process, so that nobody has it open here.
            std::fs::write(place.export().join("f"), b"secret").expect("written");
            let file = fs.lookup(&me(), &fs.root(), name("f")).expect("LOOKUP").node.handle;
            let (new, mut change) = (NewAttributes::with_mode(mode), Change::default());
            fs.set_attributes(&me(), SetAttributes::new(&file, &new, None), &mut change).expect("SETATTR");
            assert_eq!(fs.attributes(&me(), &file).expect("GETATTR").mode, mode);
        }
    });
}

#[test]
fn a_program_that_acts_as_its_user_reads_what_the_mode_allows_and_changes_no_mode() {
    let name_of_test = "a_program_that_acts_as_its_user_reads_what_the_mode_allows_and_changes_no_mode";
    without_privilege(name_of_test, |under| {
        for mode in [0o000, 0o200, 0o111, 0o400, 0o600] {
            let place = Place::under(under);
            let path = place.export().join("f");
            std::fs::write(&path, b"secret").expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("chmod");
            let before = path.symlink_metadata().expect("there");
            for overrides_own_modes in [false, true] {
                let options = Options { overrides_own_modes, ..place.options() };
                let fs = LocalFileSystem::open(&place.export(), options).expect("opens");
                let file = fs.lookup(&me(), &fs.root(), name("f")).expect("LOOKUP").node.handle;
                let read = fs
                    .read(&me(), ReadFile::new(&file, 0, 10), &mut Vec::new())
                    .map(|read| read.content.len());
                let may = mode & 0o400 != 0 || overrides_own_modes;
                assert_eq!(read, if may { Ok(6) } else { Err(FsError::AccessDenied) }, "{mode:o}");
                if !overrides_own_modes {
                    let written = write(&fs, &file).map(drop);
                    let may = mode & 0o600 == 0o600;
                    assert_eq!(written, if may { Ok(()) } else { Err(FsError::AccessDenied) }, "{mode:o}");
                    let after = path.symlink_metadata().expect("there");
                    assert_eq!(after.mode(), before.mode());
                    if !may {
                        let changed = |facts: &std::fs::Metadata| (facts.ctime(), facts.ctime_nsec());
                        assert_eq!(changed(&after), changed(&before), "{mode:o}");
                    }
                }
            }
        }
    });
}
