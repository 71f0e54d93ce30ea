//! Answers that a client must bear: not now, not all of it, not that cookie any more, nothing at all.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, Detail, FsError, Handle, ListDirectory, MakeDirectory, Name,
    NewAttributes, ReadFile, Stability, WriteFile,
};
use howdah_wire::nfs3::{self, Refused, Status};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use crate::middleman::{Exchange, Fate, Middleman};
use crate::served::{EXPORT, Served, memory, serve};

const ME: Caller = Caller::ROOT;

/// How long a soft client waits: long enough for a busy machine to answer what it is to answer.
const SOFT_SECONDS: u64 = 10;

/// A client whose server's replies can be changed.
struct Stage {
    client: Arc<dyn Remote>,
    middleman: Middleman,
    _served: Served,
}

fn stage(query: &str) -> Stage {
    let served = serve(memory());
    let middleman = Middleman::before(served.address);
    let url = format!("nfs://{}{EXPORT}?{query}", middleman.address).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).expect("a mount");
    Stage { client, middleman, _served: served }
}

impl Stage {
    /// What becomes of the replies of one procedure; counts them.
    fn judge(
        &self,
        procedure: u32,
        mut judge: impl FnMut(usize, &Exchange<'_>) -> Fate + Send + 'static,
    ) -> Arc<AtomicUsize> {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        self.middleman.judge(move |exchange| {
            if (exchange.program, exchange.procedure) != (nfs3::PROGRAM, procedure) {
                return Fate::Pass;
            }
            judge(counter.fetch_add(1, Ordering::Relaxed), exchange)
        });
        count
    }

    fn file(&self, text: &str, data: &[u8]) -> Handle {
        let how = Create::Unchecked(NewAttributes::with_mode(0o600));
        let made = self.client.create(
            &ME,
            CreateFile::new(&self.client.root(), name(text), &how),
            &mut Change::default(),
        );
        let handle = made.expect("a file").handle;
        self.write(&handle, 0, data).expect("written");
        handle
    }

    /// Makes a page full of files.
    fn fill(&self) {
        for number in 0..20 {
            self.file(&format!("f{number}"), b"");
        }
    }

    fn write(&self, node: &Handle, offset: u64, data: &[u8]) -> howdah_vfs::Result<howdah_vfs::Written> {
        let data = Data::Bytes(data);
        self.client.write(
            &ME,
            WriteFile::new(node, offset, data, Stability::Unstable),
            &mut Change::default(),
        )
    }

    /// The names from a cookie on, and the cookie of each.
    fn list(&self, cookie: u64, most: usize) -> howdah_vfs::Result<Vec<(Vec<u8>, u64)>> {
        let mut listed = Vec::new();
        let root = self.client.root();
        self.client.read_directory(&ME, ListDirectory::new(&root, cookie, Detail::Names), &mut |entry| {
            if listed.len() == most {
                return ControlFlow::Break(());
            }
            listed.push((entry.name.to_vec(), entry.cookie));
            ControlFlow::Continue(())
        })?;
        Ok(listed)
    }
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn results(value: &impl Encode) -> Fate {
    Fate::Replace(Encoder::to_vec(value))
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

#[test]
fn not_now_is_waited_out() {
    let stage = stage("");
    let file = stage.file("f", b"howdy");
    let calls = stage.judge(nfs3::getattr::PROCEDURE, |count, _| match count {
        0 | 1 => results(&nfs3::getattr::Reply::Err(Refused { status: Status::Jukebox, detail: () })),
        _ => Fate::Pass,
    });
    assert_eq!(stage.client.attributes(&ME, &file).map(|attributes| attributes.size), Ok(5));
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    let calls = stage.judge(nfs3::read::PROCEDURE, |count, _| match count {
        0 => results(&nfs3::read::Reply::Err(Refused { status: Status::Jukebox, detail: None })),
        _ => Fate::Pass,
    });
    let mut buffer = b"kept ".to_vec();
    stage.client.read(&ME, ReadFile::new(&file, 0, 100), &mut buffer).expect("read in the end");
    assert_eq!((&buffer[..], calls.load(Ordering::Relaxed)), (&b"kept howdy"[..], 2));
}

#[test]
fn a_soft_client_is_told_not_now_in_the_end() {
    let stage = stage(&format!("soft={SOFT_SECONDS}"));
    let file = stage.file("f", b"howdy");
    stage.judge(nfs3::getattr::PROCEDURE, |_, _| {
        results(&nfs3::getattr::Reply::Err(Refused { status: Status::Jukebox, detail: () }))
    });
    assert_eq!(stage.client.attributes(&ME, &file), Err(FsError::Delay));
}

#[test]
fn a_soft_client_gives_up_and_leaves_the_buffer_as_it_was() {
    let stage = stage(&format!("soft={SOFT_SECONDS}"));
    let file = stage.file("f", b"howdy");
    stage.judge(nfs3::read::PROCEDURE, |_, _| Fate::Drop);
    let mut buffer = b"kept".to_vec();
    assert_eq!(
        stage.client.read(&ME, ReadFile::new(&file, 0, 100), &mut buffer).err(),
        Some(FsError::TimedOut)
    );
    assert_eq!(buffer, b"kept");
}

#[test]
fn what_is_read_goes_behind_whatever_the_buffer_holds() {
    let stage = stage("rsize=4096");
    let data = pattern(100_000);
    let file = stage.file("f", &data);
    for held in [0, 1, 4096, 4097, 1 << 20] {
        let before = pattern(held);
        let mut buffer = before.clone();
        stage.client.read(&ME, ReadFile::new(&file, 0, data.len()), &mut buffer).expect("read");
        assert!(buffer == [before, data.clone()].concat(), "behind {held} bytes");
    }
}

#[test]
fn a_reply_that_is_lost_with_its_connection_is_asked_for_again() {
    let stage = stage("");
    let data = pattern(100_000);
    let file = stage.file("f", &data);
    stage.judge(nfs3::read::PROCEDURE, |count, _| if count == 0 { Fate::Lose } else { Fate::Pass });
    let mut buffer = Vec::new();
    stage.client.read(&ME, ReadFile::new(&file, 0, data.len()), &mut buffer).expect("read");
    assert!(buffer == data);
}

/// A READ's reply with no more than so many bytes.
fn short(exchange: &Exchange<'_>, most: usize) -> Fate {
    let reply = nfs3::read::Reply::decode(&mut Decoder::new(exchange.results)).expect("howdah's own reply");
    results(&reply.map(|success| {
        let data = &success.data[..success.data.len().min(most)];
        nfs3::read::Success { end: success.end && data.len() == success.data.len(), data, ..success }
    }))
}

#[test]
fn short_reads_go_on_until_all_is_there() {
    let data = pattern(50_000);
    for query in ["", "rsize=4096"] {
        let stage = stage(query);
        let file = stage.file("f", &data);
        stage.judge(nfs3::read::PROCEDURE, |_, exchange| short(exchange, 3000));
        for (offset, count) in
            [(0, 50_000), (0, 60_000), (1, 4096), (4095, 20_000), (49_999, 10), (50_000, 10)]
        {
            let mut buffer = b"kept".to_vec();
            let outcome = stage
                .client
                .read(&ME, ReadFile::new(&file, offset as u64, count), &mut buffer)
                .expect("read");
            let expected = &data[offset..(offset + count).min(data.len())];
            assert!(buffer == [b"kept", expected].concat(), "{count} bytes at {offset} with {query}");
            assert_eq!(outcome.content.len(), expected.len());
            assert!(!outcome.end || offset + count >= data.len());
        }
    }
}

#[test]
fn a_server_that_reads_nothing_and_no_end_is_no_endless_loop() {
    let stage = stage("");
    let file = stage.file("f", b"howdy");
    stage.judge(nfs3::read::PROCEDURE, |_, exchange| {
        let reply = nfs3::read::Reply::decode(&mut Decoder::new(exchange.results)).expect("a reply");
        results(&reply.map(|success| nfs3::read::Success { end: false, data: b"", ..success }))
    });
    let outcome = stage.client.read(&ME, ReadFile::new(&file, 0, 5), &mut Vec::new());
    assert_eq!(outcome.err(), Some(FsError::ServerFault));
}

#[test]
fn short_writes_go_on_until_all_is_written() {
    let data = pattern(30_000);
    let stage = stage("wsize=4096");
    let file = stage.file("f", b"");
    // The server took it all, but says that it took less: the next call sends the same again.
    stage.judge(nfs3::write::PROCEDURE, |_, exchange| {
        let reply = nfs3::write::Reply::decode(&mut Decoder::new(exchange.results)).expect("a reply");
        results(&reply.map(|success| nfs3::write::Success { count: success.count.min(1000), ..success }))
    });
    assert_eq!(stage.write(&file, 3, &data).map(|written| written.count), Ok(data.len()));
    let mut buffer = Vec::new();
    stage.client.read(&ME, ReadFile::new(&file, 3, data.len()), &mut buffer).expect("read");
    assert!(buffer == data);
}

#[test]
fn a_write_across_a_restart_counts_only_what_the_same_run_took() {
    let stage = stage("wsize=1024");
    let file = stage.file("f", b"");
    stage.judge(nfs3::write::PROCEDURE, |_, exchange| {
        let asked = nfs3::write::Head::decode(&mut Decoder::new(exchange.arguments)).expect("arguments");
        let reply = nfs3::write::Reply::decode(&mut Decoder::new(exchange.results)).expect("a reply");
        let verifier = if asked.offset < 3 * 1024 { [1; 8] } else { [2; 8] };
        results(&reply.map(|success| nfs3::write::Success { verifier, ..success }))
    });
    let written = stage.write(&file, 0, &pattern(10_000)).expect("written");
    assert_eq!((written.count, written.verifier), (3 * 1024, [1; 8]));
}

/// As Linux answers an unchecked CREATE of a name that a directory has.
#[test]
fn a_directory_is_not_taken_for_the_file_that_was_to_be_made() {
    let stage = stage("");
    let (root, new) = (stage.client.root(), NewAttributes::with_mode(0o700));
    let directory =
        stage.client.make_directory(&ME, MakeDirectory::new(&root, name("d"), &new), &mut Change::default());
    let handle = directory.expect("a directory").handle;
    stage.judge(nfs3::create::PROCEDURE, move |_, _| {
        let node = Some(nfs3::FileHandle(handle.as_bytes()));
        let directory = nfs3::WeakCacheConsistency::default();
        results(&nfs3::create::Reply::Ok(nfs3::Made { node, attributes: None, directory }))
    });
    let how = Create::Unchecked(NewAttributes::with_mode(0o600));
    let made = stage.client.create(&ME, CreateFile::new(&root, name("d"), &how), &mut Change::default());
    assert_eq!(made, Err(FsError::Exists));
}

fn bad_cookie() -> Fate {
    results(&nfs3::readdir::Reply::Err(Refused { status: Status::BadCookie, detail: None }))
}

#[test]
fn a_verifier_that_is_old_is_left_out() {
    let stage = stage("");
    stage.fill();
    let all = stage.list(0, usize::MAX).expect("a listing");
    // A server that gives verifiers, and changes them with the directory.
    stage.judge(nfs3::readdir::PROCEDURE, |count, exchange| {
        let asked =
            nfs3::readdir::Arguments::decode(&mut Decoder::new(exchange.arguments)).expect("arguments");
        if asked.cookie != 0 && asked.verifier != [0; 8] {
            return bad_cookie();
        }
        let mut changed = exchange.results.to_vec();
        let at = 4 + 4 + nfs3::Attributes::SIZE;
        changed[at..at + 8].copy_from_slice(&(count as u64 + 1).to_be_bytes());
        Fate::Replace(changed)
    });
    let first = stage.list(0, 5).expect("a page");
    let rest = stage.list(first[4].1, usize::MAX).expect("the rest");
    assert_eq!([first, rest].concat(), all);
}

#[test]
fn a_cookie_that_is_refused_is_found_again_from_the_start() {
    let stage = stage("");
    stage.fill();
    let all = stage.list(0, usize::MAX).expect("a listing");
    // A server that takes a cookie only right after it gave it.
    stage.judge(nfs3::readdir::PROCEDURE, |_, exchange| {
        let asked =
            nfs3::readdir::Arguments::decode(&mut Decoder::new(exchange.arguments)).expect("arguments");
        if asked.cookie == 0 { Fate::Pass } else { bad_cookie() }
    });
    let first = stage.list(0, 5).expect("a page");
    let rest = stage.list(first[4].1, usize::MAX).expect("the rest");
    assert_eq!([first, rest].concat(), all);
    assert_eq!(stage.list(u64::MAX, 5), Err(FsError::BadCookie));
}

#[test]
fn an_answer_that_makes_no_sense_is_the_servers_fault() {
    let stage = stage("");
    let file = stage.file("f", b"howdy");
    for garbage in [&b""[..], &[0, 0, 0], &[0xff; 4], &[0, 0, 0, 0, 0, 0, 0, 99]] {
        stage.judge(nfs3::getattr::PROCEDURE, move |_, _| Fate::Replace(garbage.to_vec()));
        assert_eq!(stage.client.attributes(&ME, &file), Err(FsError::ServerFault), "{garbage:?}");
    }
}

/// A page that says that it is not the last.
fn with_more_to_come(page: &[u8]) -> Vec<u8> {
    let (_, most) = page.split_last().expect("a flag at the end");
    [most, &[0]].concat()
}

/// Whether a READDIR asks for the first page.
fn asks_for_start(exchange: &Exchange<'_>) -> bool {
    let asked = nfs3::readdir::Arguments::decode(&mut Decoder::new(exchange.arguments)).expect("arguments");
    asked.cookie == 0
}

#[test]
fn pages_that_come_once_more_after_a_cookie_was_refused_are_no_circle() {
    let stage = stage("");
    stage.fill();
    let all = stage.list(0, usize::MAX).expect("a listing");
    let mut starts = 0;
    stage.judge(nfs3::readdir::PROCEDURE, move |_, exchange| {
        if asks_for_start(exchange) {
            starts += 1;
            return Fate::Replace(with_more_to_come(exchange.results));
        }
        if starts < 2 { bad_cookie() } else { Fate::Pass }
    });
    assert_eq!(stage.list(0, usize::MAX), Ok(all));
}

#[test]
fn a_server_that_never_takes_its_own_cookies_is_no_endless_loop() {
    let stage = stage("");
    stage.fill();
    let count = stage.judge(nfs3::readdir::PROCEDURE, |_, exchange| {
        if asks_for_start(exchange) {
            Fate::Replace(with_more_to_come(exchange.results))
        } else {
            bad_cookie()
        }
    });
    assert_eq!(stage.list(0, usize::MAX).map(|_| ()), Err(FsError::BadCookie));
    assert!(count.load(Ordering::Relaxed) < 10);
}

#[test]
fn a_list_that_goes_round_in_circles_ends() {
    let stage = stage("");
    stage.fill();
    // The first page again and again, which is never the last: to who lists all of it, to who looks for an old cookie, and
    // if verifiers are always old.
    for (cookie, refuses_verifiers) in [(0, false), (u64::MAX, false), (0, true)] {
        let mut page = None;
        let count = stage.judge(nfs3::readdir::PROCEDURE, move |_, exchange| {
            let asked =
                nfs3::readdir::Arguments::decode(&mut Decoder::new(exchange.arguments)).expect("arguments");
            if asked.cookie == u64::MAX || refuses_verifiers && asked.verifier != [0; 8] {
                return bad_cookie();
            }
            let page = page.get_or_insert_with(|| {
                let mut page = with_more_to_come(exchange.results);
                let verifier_at = 4 + 4 + nfs3::Attributes::SIZE;
                page[verifier_at..verifier_at + 8].fill(1);
                page
            });
            Fate::Replace(page.clone())
        });
        assert_eq!(stage.list(cookie, usize::MAX).map(|_| ()), Err(FsError::ServerFault));
        assert!(count.load(Ordering::Relaxed) < 10, "{cookie}, {refuses_verifiers}");
    }
}
