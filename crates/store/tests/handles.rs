//! Handles outlive restarts, renames and losses of the index, and never lead to another node than their own.

mod common;

use std::sync::Barrier;
use std::time::{Duration, Instant};

use common::{Place, is_root, myself, with_and_without_privilege};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::{
    AddLink, Caller, Change, Create, CreateFile, FileSystem, FsError, Handle, MakeDirectory, Name,
    NewAttributes, Result,
};

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn me() -> Caller {
    if is_root() { Caller::ROOT } else { myself() }
}

fn create(fs: &LocalFileSystem, directory: &Handle, text: &str) -> Handle {
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    fs.create(&me(), CreateFile::new(directory, name(text), &how), &mut Change::default())
        .expect("CREATE")
        .handle
}

fn make_directory(fs: &LocalFileSystem, directory: &Handle, text: &str) -> Handle {
    let new = NewAttributes::with_mode(0o755);
    fs.make_directory(&me(), MakeDirectory::new(directory, name(text), &new), &mut Change::default())
        .expect("MKDIR")
        .handle
}

fn rename(fs: &LocalFileSystem, from: (&Handle, &str), to: (&Handle, &str)) {
    let changes = (&mut Change::default(), &mut Change::default());
    fs.rename(&me(), (from.0, name(from.1)), (to.0, name(to.1)), changes).expect("RENAME");
}

fn look(fs: &LocalFileSystem, directory: &Handle, text: &str) -> Handle {
    fs.lookup(&me(), directory, name(text)).expect("LOOKUP").node.handle
}

/// The file number behind a handle, asked until the file system does not put it off any more.
fn file(fs: &LocalFileSystem, handle: &Handle) -> Result<u64> {
    loop {
        match fs.attributes(&me(), handle) {
            Err(FsError::Delay) => {}
            outcome => return outcome.map(|attributes| attributes.file),
        }
    }
}

#[test]
fn handles_outlive_a_restart_and_a_rename() {
    with_and_without_privilege("handles_outlive_a_restart_and_a_rename", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let outer = make_directory(&fs, &fs.root(), "outer");
        let inner = make_directory(&fs, &outer, "inner");
        let leaf = create(&fs, &inner, "leaf");
        let number = file(&fs, &leaf).expect("GETATTR");
        rename(&fs, (&fs.root(), "outer"), (&fs.root(), "moved"));
        rename(&fs, (&inner, "leaf"), (&fs.root(), "top"));
        let root = fs.root();
        drop(fs);
        let fs = place.open();
        assert_eq!(fs.root(), root);
        assert_eq!(file(&fs, &leaf), Ok(number));
        assert_eq!(look(&fs, &outer, "inner"), inner);
        assert_eq!(look(&fs, &fs.root(), "top"), leaf);
        assert_eq!(fs.parent(&me(), &inner).expect("LOOKUP ..").node.handle, outer);
    });
}

#[test]
fn what_the_index_lost_is_found_again() {
    with_and_without_privilege("what_the_index_lost_is_found_again", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let directory = make_directory(&fs, &fs.root(), "d");
        let below = make_directory(&fs, &directory, "below");
        let leaf = create(&fs, &below, "leaf");
        drop(fs);
        // As if nothing had been written before the process was killed, and others had moved things meanwhile.
        for file in std::fs::read_dir(place.state()).expect("the state").flatten() {
            std::fs::remove_file(file.path()).expect("removes");
        }
        std::fs::rename(place.export().join("d/below/leaf"), place.export().join("d/elsewhere"))
            .expect("moves");
        std::fs::rename(place.export().join("d/below"), place.export().join("up")).expect("moves");
        let fs = place.open();
        let number = |path: &str| {
            use std::os::unix::fs::MetadataExt;
            std::fs::metadata(place.export().join(path)).expect("there").ino()
        };
        assert_eq!(file(&fs, &leaf), Ok(number("d/elsewhere")));
        assert_eq!(file(&fs, &below), Ok(number("up")));
        assert_eq!(file(&fs, &directory), Ok(number("d")));
    });
}

#[test]
fn what_others_moved_is_found_and_what_they_removed_is_stale() {
    with_and_without_privilege("what_others_moved_is_found_and_what_they_removed_is_stale", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let directory = make_directory(&fs, &fs.root(), "d");
        let moved = create(&fs, &directory, "moved");
        let removed = create(&fs, &directory, "removed");
        let number = file(&fs, &moved).expect("GETATTR");
        std::fs::rename(place.export().join("d/moved"), place.export().join("here")).expect("moves");
        std::fs::remove_file(place.export().join("d/removed")).expect("removes");
        drop(fs);
        let fs = place.open();
        assert_eq!(file(&fs, &moved), Ok(number));
        assert_eq!(file(&fs, &removed), Err(FsError::Stale));
        assert_eq!(file(&fs, &removed), Err(FsError::Stale), "and it stays so");
    });
}

#[test]
fn a_number_used_again_is_another_node() {
    with_and_without_privilege("a_number_used_again_is_another_node", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let mut old: Vec<(Handle, u64)> = Vec::new();
        let mut reused = 0;
        for round in 0..200 {
            let handle = create(&fs, &fs.root(), "f");
            let number = file(&fs, &handle).expect("GETATTR");
            reused += usize::from(old.iter().any(|(_, old)| *old == number));
            assert!(old.iter().all(|(old, _)| *old != handle), "a handle came back");
            if round % 2 == 0 {
                fs.remove(&me(), &fs.root(), name("f"), &mut Change::default()).expect("REMOVE");
            } else {
                // By others, behind the server's back.
                std::fs::remove_file(place.export().join("f")).expect("removes");
            }
            old.push((handle, number));
        }
        for (handle, _) in &old[old.len() - 20..] {
            assert_eq!(file(&fs, handle), Err(FsError::Stale));
        }
        // ext4 does use numbers again, so this has tested something; tmpfs counts up.
        assert!(reused > 0 || common::is_on_memory(under), "no number was used again");
    });
}

#[test]
fn a_directory_that_is_moved_out_is_stale_with_all_directories_below_it() {
    let test = "a_directory_that_is_moved_out_is_stale_with_all_directories_below_it";
    with_and_without_privilege(test, |under| {
        let place = Place::under(under);
        let fs = place.open();
        let out = make_directory(&fs, &fs.root(), "out");
        let below = make_directory(&fs, &out, "below");
        let stays = make_directory(&fs, &fs.root(), "stays");
        let within = make_directory(&fs, &stays, "within");
        // Not a mount of its own.
        let options = Options { cross_mounts: true, ..Options::default() };
        let other = LocalFileSystem::open(&place.export(), options).expect("opens");
        for directory in [&out, &below, &stays, &within] {
            assert!(file(&fs, directory).is_ok() && file(&other, directory).is_ok());
        }
        std::fs::rename(place.export().join("out"), place.outside().join("out")).expect("moves");
        std::fs::rename(place.export().join("stays/within"), place.export().join("within")).expect("moves");

        let patience = Instant::now() + Duration::from_secs(60);
        let is_stale = |fs, directory| file(fs, directory) == Err(FsError::Stale);
        while ![&fs, &other].iter().all(|fs| is_stale(fs, &out) && is_stale(fs, &below)) {
            assert!(Instant::now() < patience, "it is stale while it is used");
            std::thread::sleep(Duration::from_millis(10));
        }
        // They are in the cache no more.
        let made = fs.make_directory(
            &me(),
            MakeDirectory::new(&below, name("new"), &NewAttributes::with_mode(0o755)),
            &mut Change::default(),
        );
        assert!(matches!(made, Err(FsError::Stale | FsError::Delay)), "{made:?}");
        assert_eq!(std::fs::read_dir(place.outside().join("out/below")).expect("lists").count(), 0);
        for directory in [&stays, &within] {
            let both = [file(&fs, directory), file(&other, directory)];
            assert!(both.iter().all(Result::is_ok), "a move inside changes nothing: {both:?}");
        }

        std::fs::rename(place.outside().join("out"), place.export().join("stays/back")).expect("moves back");
        let back = look(&fs, &stays, "back");
        assert_eq!(back, out, "a node that is moved back has the handle that it had");
        assert!(file(&fs, &back).is_ok());
    });
}

#[test]
fn what_left_the_export_has_no_parent_in_it() {
    with_and_without_privilege("what_left_the_export_has_no_parent_in_it", |under| {
        let place = Place::under(under);
        let fs = place.open();
        let directory = make_directory(&fs, &fs.root(), "d");
        let inner = make_directory(&fs, &directory, "inner");
        std::fs::rename(place.export().join("d"), place.outside().join("d")).expect("moves");
        assert_eq!(fs.parent(&me(), &directory).map(|found| found.node.handle), Err(FsError::Stale));
        assert!(fs.parent(&me(), &inner).is_err(), "its parent is outside too");
        assert_eq!(fs.parent(&me(), &fs.root()).expect("LOOKUP ..").node.handle, fs.root());
    });
}

#[test]
fn a_removed_file_is_stale_without_a_search() {
    with_and_without_privilege("a_removed_file_is_stale_without_a_search", |under| {
        let place = Place::under(under);
        let fs = place.open();
        for way in ["removed", "replaced"] {
            let handle = create(&fs, &fs.root(), "f");
            match way {
                "removed" => fs.remove(&me(), &fs.root(), name("f"), &mut Change::default()).expect("REMOVE"),
                _ => {
                    create(&fs, &fs.root(), "new");
                    rename(&fs, (&fs.root(), "new"), (&fs.root(), "f"));
                }
            }
            // At the first question, and not DELAY first.
            assert_eq!(fs.attributes(&me(), &handle), Err(FsError::Stale), "{way}");
        }
    });
}

#[test]
fn a_file_that_gets_a_name_while_its_only_one_is_removed_keeps_its_handle() {
    const ROUNDS: usize = 3000;
    with_and_without_privilege(
        "a_file_that_gets_a_name_while_its_only_one_is_removed_keeps_its_handle",
        |under| {
            let place = Place::under(under);
            let fs = place.open();
            let root = fs.root();
            for round in 0..ROUNDS {
                let handle = create(&fs, &root, "old");
                let both = Barrier::new(2);
                let (linked, removed) = std::thread::scope(|scope| {
                    let link = scope.spawn(|| {
                        both.wait();
                        fs.link(&me(), AddLink::new(&handle, &root, name("new")), &mut Change::default())
                            .is_ok()
                    });
                    both.wait();
                    let removed = fs.remove(&me(), &root, name("old"), &mut Change::default());
                    (link.join().expect("no panic"), removed)
                });
                assert_eq!(removed, Ok(()), "round {round}");
                if linked {
                    assert!(file(&fs, &handle).is_ok(), "round {round}: it is still named \"new\"");
                    fs.remove(&me(), &root, name("new"), &mut Change::default()).expect("REMOVE");
                }
            }
        },
    );
}
