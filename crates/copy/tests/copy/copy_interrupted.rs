//! Copies that are killed, stopped, or whose server restarts: what is lost, what goes on, and that the end is right.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use howdah_copy::{Copier, CopyOptions, CopyTarget, Event, Existing, Item, Side, mark_in};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, FileSystem, FsError, NewAttributes, Result};

use crate::copying;
use crate::copying::random::{Random, seed};
use crate::copying::tree::{Files, ROOT, grow};
use crate::copying::trouble::{Dying, Forgetful, Meddled, Restarting};
use crate::copying::{copier, copy, item, options, with_writer};

fn memory() -> Files {
    Files(Arc::new(MemoryFileSystem::new()))
}

fn big_file(random: &mut Random) -> (Files, howdah_vfs::Node) {
    let from = memory();
    let bytes = random.bytes(4_000_000);
    let file = from.file(&from.root().handle, "big", bytes.len() as u64, &[(0, bytes)]);
    from.set_time(&file.handle, 1_000_000, 0);
    let file = from.at("big");
    (from, file)
}

#[test]
fn a_killed_copy_goes_on_where_it_stopped() {
    let mut random = Random::new(seed("a_killed_copy_goes_on_where_it_stopped"));
    for round in 0..10 {
        let options = || with_writer(round % 2 == 0);
        let (from, file) = big_file(&mut random);
        let to = Arc::new(MemoryFileSystem::new());
        let files = Files(Arc::clone(&to) as _);
        let (mut runs, mut read) = (0, 0);
        loop {
            // Enough calls for the bookkeeping and one commit.
            let left = AtomicI64::new(15 + random.below(40) as i64);
            let dying = Files(Arc::new(Dying { inner: Arc::clone(&to) as _, left }));
            let (outcome, _) = copy(&from, file, &dying, "copy", options());
            runs += 1;
            read += outcome.figures.copied_bytes;
            // Killed before the journal was removed, all but that is done.
            if outcome.figures.errors == 0 && files.names(&files.root().handle) == ["copy"] {
                break;
            }
            if let Some(there) = files.look(&files.root().handle, "copy") {
                assert!(files.content(&there) == from.content(&file), "no half file under the final name");
            }
            assert!(runs < 1000, "it comes to an end");
            if random.below(2) == 0 {
                // The server's machine crashed, too.
                to.restart();
            }
        }
        assert!(files.content(&files.at("copy")) == from.content(&file));
        assert_eq!(files.names(&files.root().handle), ["copy"], "nothing is left beside it");
        // Each run may lose what was not committed yet, and what was on its way.
        let on_its_way = 2 * options().tuning.most_jobs as u64 + 1;
        let slack = 256 * 1024 + on_its_way * 64 * 1024;
        assert!(read <= file.attributes.size + runs * slack, "{read} bytes in {runs} runs");
        assert!(runs > 1);
    }
}

#[test]
fn a_killed_tree_is_completed_and_not_begun_again() {
    let mut random = Random::new(seed("a_killed_tree_is_completed_and_not_begun_again"));
    let from = memory();
    let top = from.directory(&from.root().handle, "top");
    grow(&from, &top, 80, 1_000_000, &mut random);
    let top = from.at("top");
    let to: Arc<MemoryFileSystem> = Arc::default();
    let files = Files(Arc::clone(&to) as _);
    let mut runs = 0;
    loop {
        let left = AtomicI64::new(150 + 20 * runs + random.below(300) as i64);
        let dying = Files(Arc::new(Dying { inner: Arc::clone(&to) as _, left }));
        let (outcome, heard) = copy(&from, top, &dying, "copy", options());
        runs += 1;
        if outcome.figures.errors == 0 {
            assert_eq!(files.see(&files.at("copy")), from.see(&top), "{:#?}", heard.all());
            break;
        }
        assert!(runs < 1000);
    }
    assert!(runs > 1);
}

/// Refuses a WRITE, counted from 1, and all that follow, for this reason.
struct Full(Arc<MemoryFileSystem>, AtomicI64, FsError);

impl Layer for Full {
    fn inner(&self) -> &dyn FileSystem {
        &*self.0
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Write && self.1.fetch_sub(1, Ordering::Relaxed) <= 1 {
            return Err(self.2);
        }
        run(&*self.0)
    }
}

#[test]
fn a_tree_on_a_full_disk_keeps_the_mark_by_which_the_same_command_resumes() {
    let mut random =
        Random::new(seed("a_tree_on_a_full_disk_keeps_the_mark_by_which_the_same_command_resumes"));
    let (from, to) = (memory(), Arc::<MemoryFileSystem>::default());
    let top = from.directory(&from.root().handle, "top");
    let inner = from.directory(&top.handle, "inner");
    from.file(&inner.handle, "big", 1_000_000, &[(0, random.bytes(1_000_000))]);
    let (files, top) = (Files(Arc::clone(&to) as _), from.at("top"));
    let full = Files(Arc::new(Full(Arc::clone(&to), AtomicI64::new(5), FsError::NoSpace)));
    let (outcome, heard) = copy(&from, top, &full, "copy", CopyOptions { jobs: Some(1), ..options() });
    assert_eq!(outcome.figures.errors, 1, "{:?}", heard.all());
    let left = files.names(&files.at("copy/inner").handle);
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.iter().all(|name| heard.has(&format!("/there/copy/inner/{name}"))), "{:?}", heard.all());
    let side = Side::new(Arc::clone(&to) as _, ROOT.clone());
    assert!(mark_in(&side, &files.at("copy"), 7).is_some());
    // As the command does that finds the mark.
    let (copier, heard) = copier(&files, options());
    let target = CopyTarget::Directory(files.at("copy"));
    let directory_path = b"/there/copy".to_vec();
    let again = copier.run(vec![Item { target, directory_path, ..item(&from, top, &files, "copy") }]);
    assert_eq!((again.figures.errors, again.figures.resumed_files), (0, 1), "{:?}", heard.all());
    assert_eq!(files.see(&files.at("copy")), from.see(&top));
}

#[test]
fn a_copy_that_cannot_begin_leaves_nothing() {
    let mut random = Random::new(seed("a_copy_that_cannot_begin_leaves_nothing"));
    let (from, file) = big_file(&mut random);
    let to = Arc::<MemoryFileSystem>::default();
    let full = Files(Arc::new(Full(Arc::clone(&to), AtomicI64::new(1), FsError::NoSpace)));
    let (outcome, heard) = copy(&from, file, &full, "copy", options());
    assert_eq!(outcome.figures.errors, 1);
    assert!(
        heard.has("cannot write /there/copy: no space left") && !heard.has("howdah-partial"),
        "{:?}",
        heard.all()
    );
    assert_eq!(full.names(&full.root().handle), [""; 0]);
}

#[test]
fn what_a_killed_copy_began_under_another_name_of_the_file_goes() {
    // The second copy is killed, too, after each number of calls.
    for calls in 1.. {
        let (from, file) = big_file(&mut Random::new(9));
        let top = from.directory(&from.root().handle, "top");
        from.link(&file.handle, &top.handle, "one");
        from.link(&file.handle, &top.handle, "other");
        let to: Arc<MemoryFileSystem> = Arc::default();
        let dying = |left| Files(Arc::new(Dying { inner: Arc::clone(&to) as _, left: AtomicI64::new(left) }));
        let options = || CopyOptions { jobs: Some(1), ..options() };
        assert!(copy(&from, top, &dying(45), "copy", options()).0.figures.errors > 0);
        let files = Files(Arc::clone(&to) as _);
        let left = files.names(&files.at("copy").handle);
        let begun = ["one", "other"]
            .into_iter()
            .find(|name| left.iter().any(|left| left.starts_with(&format!(".{name}."))));
        let begun = begun.expect("one of the names was begun with");
        // Listed last, it is linked to the copy of the other.
        let name = howdah_vfs::Name::parse(begun.as_bytes()).expect("a name");
        from.0.remove(copying::tree::ROOT, &top.handle, name, &mut Default::default()).expect("removed");
        from.link(&file.handle, &top.handle, begun);
        let (killed, heard) = copy(&from, from.at("top"), &dying(calls), "copy", options());
        let is_whole = killed.figures.errors == 0;
        if is_whole {
            assert!(heard.has(&format!("linked copy/{begun}")), "{:?}", heard.all());
        }
        let (outcome, heard) = copy(&from, from.at("top"), &files, "copy", options());
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        let names = files.names(&files.at("copy").handle);
        assert_eq!(names, ["one", "other"], "killed after {calls} calls: {:?}", heard.all());
        if is_whole {
            return;
        }
    }
}

#[test]
fn a_source_that_changed_is_begun_again_and_that_is_said() {
    let mut random = Random::new(seed("a_source_that_changed_is_begun_again_and_that_is_said"));
    let (from, file) = big_file(&mut random);
    let to: Arc<MemoryFileSystem> = Arc::default();
    let dying = Files(Arc::new(Dying { inner: Arc::clone(&to) as _, left: AtomicI64::new(45) }));
    assert_eq!(copy(&from, file, &dying, "copy", options()).0.figures.errors, 1);
    from.set_time(&file.handle, 2_000_000, 0);
    let file = from.at("big");
    let files = Files(to as _);
    let (outcome, heard) = copy(&from, file, &files, "copy", options());
    assert_eq!((outcome.figures.errors, outcome.figures.resumed_bytes), (0, 0));
    assert!(heard.has("started over copy: the source was changed since"), "{:?}", heard.all());
    assert_eq!(files.names(&files.root().handle), ["copy"]);
}

#[test]
fn what_a_restarted_server_lost_is_sent_again() {
    let mut random = Random::new(seed("what_a_restarted_server_lost_is_sent_again"));
    let mut resent = 0;
    for (every, one_writer) in [3, 5, 7, 17, 50].into_iter().flat_map(|every| [(every, true), (every, false)])
    {
        let (from, file) = big_file(&mut random);
        let memory: Arc<MemoryFileSystem> = Arc::default();
        let (restarts, writes) = (AtomicI64::new(4), AtomicI64::new(0));
        let to = Files(Arc::new(Restarting { memory: Arc::clone(&memory), every, restarts, writes }));
        let (outcome, heard) = copy(&from, file, &to, "copy", with_writer(one_writer));
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        // Whatever was acknowledged is there after one more crash.
        memory.restart();
        assert!(to.content(&to.at("copy")) == from.content(&file));
        assert!(heard.has("sent again") == (outcome.figures.resent_bytes > 0));
        resent += outcome.figures.resent_bytes;
    }
    // Some may all come with a write of the journal, when everything was just committed.
    assert!(resent > 0, "no restart lost anything");
}

#[test]
fn a_server_that_restarts_all_the_time_is_written_to_stably_in_the_end() {
    let (from, file) = big_file(&mut Random::new(5));
    let memory: Arc<MemoryFileSystem> = Arc::default();
    let (restarts, writes) = (AtomicI64::new(i64::MAX), AtomicI64::new(0));
    let to = Files(Arc::new(Restarting { memory, every: 1, restarts, writes }));
    let (outcome, heard) = copy(&from, file, &to, "copy", options());
    assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
    assert!(to.content(&to.at("copy")) == from.content(&file));
}

#[test]
fn what_a_killed_server_made_and_did_not_answer_for_is_no_failure() {
    let mut random = Random::new(seed("what_a_killed_server_made_and_did_not_answer_for_is_no_failure"));
    let ways = [Existing::ReplaceChanged, Existing::Keep];
    for (losses, existing) in [1, 3, 5].into_iter().flat_map(|losses| ways.map(|way| (losses, way))) {
        let from = memory();
        let top = from.directory(&from.root().handle, "top");
        grow(&from, &top, 60, 300_000, &mut random);
        let top = from.at("top");
        let memory: Arc<MemoryFileSystem> = Arc::default();
        let files = Files(Arc::clone(&memory) as _);
        let to = Files(Arc::new(Forgetful { inner: memory, left: AtomicI64::new(losses) }));
        let (outcome, heard) = copy(&from, top, &to, "copy", CopyOptions { existing, ..options() });
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        assert_eq!(files.see(&files.at("copy")), from.see(&top), "{:#?}", heard.all());
    }
}

#[test]
fn a_stopped_copy_keeps_what_it_has() {
    stop_and_go_on(true);
    stop_and_go_on(false);
}

fn stop_and_go_on(one_writer: bool) {
    let (from, file) = big_file(&mut Random::new(6));
    let to = memory();
    // 256 KiB/s and stopped at once: some blocks are through, most are not.
    let slow = CopyOptions { rate: Some(256 << 10), jobs: Some(2), ..with_writer(one_writer) };
    let (slow_copier, _) = copier(&to, slow);
    let (sign, tally) = (slow_copier.stop_sign(), slow_copier.tally());
    let outcome = std::thread::scope(|scope| {
        let running = scope.spawn(|| slow_copier.run(vec![item(&from, file, &to, "copy")]));
        while tally.figures().copied_bytes < 200_000 {
            std::thread::yield_now();
        }
        sign.set();
        running.join().expect("it ends")
    });
    assert!(outcome.stopped && outcome.figures.files == 0 && outcome.figures.errors == 0);
    let done = outcome.figures.copied_bytes;
    let (again, heard) = copy(&from, file, &to, "copy", options());
    assert_eq!(again.figures.resumed_bytes, done, "{:?}", heard.all());
    assert_eq!(again.figures.copied_bytes + done, file.attributes.size);
    assert!(to.content(&to.at("copy")) == from.content(&file));
}

/// What the same copy does that is started a second time, and does not find that it could go on: a partial file of its own.
fn begin_again(files: &Files) {
    let root = files.root().handle;
    let partial =
        files.names(&root).into_iter().find(|name| name.contains("howdah-partial")).expect("a partial file");
    let name = howdah_vfs::Name::parse(partial.as_bytes()).expect("a name");
    files.0.remove(copying::tree::ROOT, &root, name, &mut howdah_vfs::Change::default()).expect("removed");
    files.file(&root, &partial, 0, &[]);
}

#[test]
fn a_copy_that_another_has_taken_over_gives_no_name_to_what_the_other_has_begun() {
    // Its own handle is of no use any more when it completes the file; or that comes a moment later, at a server that says
    // nothing of the file then.
    for (size, before) in [(1_000, true), (4_000_000, true), (1_000, false), (4_000_000, false)] {
        let from = memory();
        let bytes = Random::new(1).bytes(size);
        let file = from.file(&from.root().handle, "file", size as u64, &[(0, bytes)]);
        let to: Arc<dyn howdah_vfs::FileSystem> = Arc::new(MemoryFileSystem::new());
        let files = Files(Arc::clone(&to));
        let meddle = Box::new({
            let files = Files(Arc::clone(&to));
            move || begin_again(&files)
        });
        let meddled = Files(Arc::new(Meddled {
            inner: to,
            call: Call::SetAttributes,
            before,
            meddle,
            is_done: Mutex::new(false),
        }));
        let (outcome, heard) = copy(&from, file, &meddled, "copy", options());
        assert_eq!(outcome.figures.errors, 1);
        assert!(heard.has("started a second time"), "{:?}", heard.all());
        assert!(files.look(&files.root().handle, "copy").is_none());
        assert!(files.names(&files.root().handle).iter().any(|name| name.contains("howdah-partial")));
    }
}

#[test]
fn two_of_the_same_copy_at_once_leave_a_whole_file_or_none() {
    let mut random = Random::new(seed("two_of_the_same_copy_at_once_leave_a_whole_file_or_none"));
    for _ in 0..20 {
        let (from, file) = big_file(&mut random);
        let to = Files(Arc::new(MemoryFileSystem::new()));
        let errors: u64 = std::thread::scope(|scope| {
            let run = || copy(&from, file, &to, "copy", options()).0.figures.errors;
            let runs = [scope.spawn(run), scope.spawn(run)];
            runs.into_iter().map(|run| run.join().expect("no panic")).sum()
        });
        match to.look(&to.root().handle, "copy") {
            Some(copied) => assert!(to.content(&copied) == from.content(&file), "half a file"),
            None => assert!(errors > 0, "neither copied, and neither said so"),
        }
        // Whatever became of the two, a third one completes it.
        let (outcome, heard) = copy(&from, file, &to, "copy", options());
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        assert!(to.content(&to.at("copy")) == from.content(&file));
    }
}

/// The hidden files beside a copy that was killed.
fn left_behind(to: &Arc<MemoryFileSystem>, from: &Files, file: howdah_vfs::Node) -> (Files, Vec<String>) {
    let dying = Files(Arc::new(Dying { inner: Arc::clone(to) as _, left: AtomicI64::new(40) }));
    copy(from, file, &dying, "copy", options());
    let files = Files(Arc::clone(to) as _);
    let names = files.names(&files.root().handle);
    assert_eq!(names.len(), 2, "a partial file and its journal: {names:?}");
    (files, names)
}

fn partial(names: &[String]) -> &str {
    names.iter().find(|name| name.contains("partial")).expect("it is among them")
}

#[test]
fn what_another_user_left_is_not_resumed() {
    let mut random = Random::new(seed("what_another_user_left_is_not_resumed"));
    let (from, file) = big_file(&mut random);
    type Plant = fn(&Files, &[String]);
    let ways: [(&str, Plant); 3] = [
        ("belongs to another user", |files, names| {
            for name in names {
                let owner = NewAttributes { user: Some(1000), ..NewAttributes::default() };
                files.set(&files.at(name).handle, owner);
            }
        }),
        ("belongs to another user", |files, names| {
            let owner = NewAttributes { user: Some(1000), ..NewAttributes::default() };
            files.set(&files.at(partial(names)).handle, owner);
        }),
        ("has another name", |files, names| {
            files.link(&files.at(partial(names)).handle, &files.root().handle, "other");
        }),
    ];
    for (why, plant) in ways {
        let to: Arc<MemoryFileSystem> = Arc::default();
        let (files, names) = left_behind(&to, &from, file);
        files.overwrite(&files.at(partial(&names)).handle, b"planted");
        plant(&files, &names);
        let (outcome, heard) = copy(&from, file, &files, "copy", options());
        assert_eq!(outcome.figures.errors, 0, "{:?}", heard.all());
        assert!(heard.has(why), "{:?}", heard.all());
        assert!(files.content(&files.at("copy")) == from.content(&file), "{why}");
    }
}

#[test]
fn a_file_with_the_name_of_a_file_of_ours_is_resumed() {
    let (from, file) = big_file(&mut Random::new(8));
    let to: Arc<MemoryFileSystem> = Arc::default();
    let dying = Files(Arc::new(Dying { inner: Arc::clone(&to) as _, left: AtomicI64::new(40) }));
    copy(&from, file, &dying, "owner", options());
    let files = Files(Arc::clone(&to) as _);
    let (outcome, heard) = copy(&from, file, &files, "owner", options());
    assert_eq!((outcome.figures.errors, outcome.figures.resumed_files), (0, 1), "{:?}", heard.all());
    assert!(files.content(&files.at("owner")) == from.content(&file));
}

#[test]
fn what_was_not_synced_is_not_resumed() {
    let (from, file) = big_file(&mut Random::new(9));
    for sync in [true, false] {
        let to: Arc<MemoryFileSystem> = Arc::default();
        let dying = Files(Arc::new(Dying { inner: Arc::clone(&to) as _, left: AtomicI64::new(40) }));
        copy(&from, file, &dying, "copy", CopyOptions { sync, ..options() });
        to.restart();
        let files = Files(Arc::clone(&to) as _);
        let (outcome, heard) = copy(&from, file, &files, "copy", CopyOptions { sync: false, ..options() });
        assert_eq!((outcome.figures.errors, outcome.figures.resumed_files), (0, 0), "{:?}", heard.all());
        assert!(files.content(&files.at("copy")) == from.content(&file));
        assert_eq!(files.names(&files.root().handle), ["copy"], "nothing is left beside it");
    }
}

#[test]
fn where_only_owners_remove_another_name_is_taken() {
    let mut random = Random::new(seed("where_only_owners_remove_another_name_is_taken"));
    let (from, file) = big_file(&mut random);
    let to: Arc<MemoryFileSystem> = Arc::default();
    let (files, names) = left_behind(&to, &from, file);
    files.set(&files.root().handle, NewAttributes::with_mode(0o1777));
    let me = Caller::new(1001, 1001);
    let side = Side::new(Arc::clone(&files.0), me);
    let copier = Copier::new(side, options(), Arc::new(|_: &Event<'_>| ()));
    let outcome = copier.run(vec![item(&from, file, &files, "copy")]);
    assert_eq!(outcome.figures.errors, 0);
    assert!(files.content(&files.at("copy")) == from.content(&file));
    let mut left = files.names(&files.root().handle);
    left.retain(|name| name != "copy");
    assert_eq!(left, names, "the other user's files, as they were");
}

#[test]
fn a_copy_beyond_a_quota_says_what_to_do_and_resumes() {
    let mut random = Random::new(seed("a_copy_beyond_a_quota_says_what_to_do_and_resumes"));
    let (from, file) = big_file(&mut random);
    let to = Arc::<MemoryFileSystem>::default();
    let beyond =
        |writes| Files(Arc::new(Full(Arc::clone(&to), AtomicI64::new(writes), FsError::QuotaExceeded)));
    let (outcome, heard) = copy(&from, file, &beyond(1), "copy", options());
    assert_eq!(outcome.figures.errors, 1);
    let message = "cannot write /there/copy: disk quota exceeded; delete files of yours there or have your quota raised, and run the same command again";
    assert!(heard.has(message), "{:?}", heard.all());
    let (outcome, heard) = copy(&from, file, &beyond(6), "copy", CopyOptions { jobs: Some(1), ..options() });
    assert_eq!(outcome.figures.errors, 1);
    let message =
        ["disk quota exceeded", "or have your quota raised, and run the same command again to resume"];
    assert!(message.iter().all(|message| heard.has(message)), "{:?}", heard.all());
    let (outcome, heard) = copy(&from, file, &Files(Arc::clone(&to) as _), "copy", options());
    assert_eq!((outcome.figures.errors, outcome.figures.resumed_files), (0, 1), "{:?}", heard.all());
}
