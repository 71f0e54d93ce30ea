//! A relay between two servers' lives: what COMMIT promised is on the far server, no matter which process dies meanwhile.

#[path = "running/server.rs"]
mod server;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_layers::file::{OpenFile, OpenFileOptions};
use howdah_needs::{Lack, skipped};
use howdah_vfs::{
    Caller, Change, CommitFile, Create, CreateFile, Data, FsError, Handle, Name, NewAttributes, ReadFile,
    Stability, WriteFile,
};
use rustix::process::Signal;
use server::{Server, run, serve};

const RIGHTS: [&str; 3] = ["--squash", "none", "--privileged-ports=never"];
const ANYWHERE: &str = "127.0.0.1:0";
const PART: usize = 256 << 10;
const PARTS: usize = 96;

fn me() -> Caller {
    Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

fn origin(home: &Path, listen: &str) -> Server {
    Server::start(serve(&home.join("far")).arg(home.join("data")).args(["--listen", listen]).args(RIGHTS))
}

fn relay(home: &Path, origin: &Server, listen: &str) -> Server {
    relay_of(home, &format!("nfs://{}/", origin.address()), listen)
}

fn relay_of(home: &Path, url: &str, listen: &str) -> Server {
    let mut command = serve(&home.join("near"));
    Server::start(command.args(["--cache", url, "--listen", listen]).args(RIGHTS))
}

/// A directory to serve, and where both servers keep their state.
fn home() -> tempfile::TempDir {
    let home = server::home();
    for part in ["far", "near"] {
        fs::create_dir(home.path().join(part)).expect("made");
    }
    home
}

fn client(relay: &Server) -> Arc<dyn Remote> {
    client_with(relay, "")
}

fn client_with(relay: &Server, options: &str) -> Arc<dyn Remote> {
    let url = format!("nfs://{}/{options}", relay.address()).parse().expect("a URL");
    connect(&url, &ConnectOptions::default()).expect("it serves")
}

/// What the relay says that limits.
fn why(home: &Path) -> String {
    let (code, text, error) = run(std::process::Command::new(server::HOWDAH)
        .arg("why")
        .arg("--state")
        .arg(home.join("near/state")));
    assert_eq!(code, Some(0), "{error}");
    text
}

fn create(fs: &dyn Remote) -> Handle {
    let (name, how) =
        (Name::parse(b"new").expect("a name"), Create::Guarded(NewAttributes::with_mode(0o644)));
    fs.create(&me(), CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("made").handle
}

/// Kills a server where it stands, and starts it again at the same address.
fn killed_and_back(server: &mut Server, start: impl FnOnce(&str) -> Server) {
    let address = server.address().to_string();
    server.signal(Signal::KILL);
    server.end();
    *server = start(&address);
}

#[test]
fn what_was_committed_is_there_though_both_servers_were_killed() {
    let home = home();
    let (home, data) = (home.path(), home.path().join("data/new"));
    let mut far = origin(home, ANYWHERE);
    let mut near = relay(home, &far, ANYWHERE);
    assert!(near.screen.contains("through caches"), "{}", near.screen);
    let fs = client(&near);
    let node = create(&*fs);
    let file = OpenFile::open(Arc::clone(&fs) as _, me(), node, OpenFileOptions::default()).expect("opened");
    let content: Vec<u8> = (0..PART * PARTS).map(|at| (at / 999) as u8).collect();
    for (number, part) in content.chunks(PART).enumerate() {
        file.write_at((number * PART) as u64, part.to_vec().into()).expect("written");
        match number {
            20 | 70 => killed_and_back(&mut far, |address| origin(home, address)),
            45 => killed_and_back(&mut near, |address| relay(home, &far, address)),
            60 => {
                file.sync().expect("safe");
                let there = fs::read(&data).expect("there");
                assert!(there[..] == content[..there.len()] && there.len() == PART * 61);
            }
            _ => {}
        }
    }
    file.close().expect("safe");
    assert!(fs::read(&data).expect("there") == content);
    let mut read = Vec::new();
    while read.len() < content.len() {
        fs.read(&me(), ReadFile::new(&node, read.len() as u64, PART), &mut read).expect("read");
    }
    assert!(read == content, "as it is read through the relay");
}

#[test]
fn a_relay_that_is_told_to_stop_writes_what_it_holds() {
    let home = home();
    let far = origin(home.path(), ANYWHERE);
    let mut near = relay(home.path(), &far, ANYWHERE);
    let fs = client(&near);
    let node = create(&*fs);
    let data = Data::Bytes(b"not committed");
    fs.write(&me(), WriteFile::new(&node, 0, data, Stability::Unstable), &mut Change::default())
        .expect("taken");
    near.signal(Signal::TERM);
    assert_eq!(near.end().code(), Some(0));
    assert_eq!(fs::read(home.path().join("data/new")).expect("there"), b"not committed");
}

#[test]
fn clients_are_told_to_ask_again_while_the_far_server_is_stopped() {
    let home = home();
    let far = origin(home.path(), ANYWHERE);
    let near = relay_of(home.path(), &format!("nfs://{}/?soft=1", far.address()), ANYWHERE);
    // This client gives up after 5 s of JUKEBOX, and after 5 s without an answer.
    let fs = client_with(&near, "?soft=5");
    let node = create(&*fs);
    let write = |at: u64, data: &[u8]| {
        fs.write(
            &me(),
            WriteFile::new(&node, at, Data::Bytes(data), Stability::Unstable),
            &mut Change::default(),
        )
    };
    let commit = || fs.commit(&me(), CommitFile::new(&node, 0, 0), &mut Change::default());
    write(0, b"howdy").expect("taken");
    commit().expect("safe");
    far.signal(Signal::STOP);
    // It stops when all its threads have seen the signal.
    let give_up = Instant::now() + Duration::from_secs(60);
    let refused = std::iter::repeat_with(|| fs.statistics(&me(), &fs.root()).err())
        .take_while(|_| Instant::now() < give_up)
        .find_map(|refused| refused);
    assert_eq!(refused, Some(FsError::Delay));
    let why = why(home.path());
    assert!(why.contains("the far server does not answer"), "{why}");
    let verifier = write(5, b", partner").expect("taken all the same").verifier;
    assert_eq!(commit().err(), Some(FsError::Delay));
    far.signal(Signal::CONT);
    let committed = loop {
        match commit() {
            // A busy machine may need longer.
            Err(FsError::Delay | FsError::TimedOut) => {}
            outcome => break outcome.expect("safe"),
        }
    };
    assert_eq!(committed.verifier, verifier, "nothing was lost");
    assert_eq!(fs::read(home.path().join("data/new")).expect("there"), b"howdy, partner");
}

#[test]
fn it_is_told_how_the_far_side_is() {
    let home = home();
    let far = origin(home.path(), ANYWHERE);
    let near = relay(home.path(), &far, ANYWHERE);
    let fs = client(&near);
    let node = create(&*fs);
    let data = Data::Bytes(b"howdy");
    fs.write(&me(), WriteFile::new(&node, 0, data, Stability::Unstable), &mut Change::default())
        .expect("taken");
    let why = why(home.path());
    for part in [&format!("far side of /, nfs://{}/: ", far.address()), "1 connection, ", "5 B of ", " dirty"]
    {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn a_relay_reads_from_disk_what_it_read_before_it_was_restarted() {
    let home = home();
    let content = howdah_random::Random::new(7).bytes(PART);
    fs::write(home.path().join("data/file"), &content).expect("written");
    let far = origin(home.path(), ANYWHERE);
    let roomy = server::cache_home();
    let cache = roomy.path().join("deep/cache");
    let start = || {
        let mut command = serve(&home.path().join("near"));
        command.args(["--cache", &format!("nfs://{}/", far.address()), "--listen", ANYWHERE]).args(RIGHTS);
        Server::start(command.arg("--cache-dir").arg(&cache))
    };
    let printed = || why(home.path());
    for is_second in [false, true] {
        let mut near = start();
        while printed().contains("its index is being read") {
            std::thread::yield_now();
        }
        let fs = client(&near);
        let name = Name::parse(b"file").expect("a name");
        let node = fs.lookup(&me(), &fs.root(), name).expect("there").node.handle;
        let mut read = Vec::new();
        fs.read(&me(), ReadFile::new(&node, 0, PART), &mut read).expect("read");
        assert!(read == content);
        let share = if is_second { "100 % of reads from it" } else { "0 % of reads from it" };
        assert!(printed().contains(share), "{}", printed());
        near.signal(Signal::TERM);
        assert_eq!(near.end().code(), Some(0));
    }
}

#[test]
fn a_relay_command_is_a_server_with_caches() {
    let home = home();
    let far = origin(home.path(), ANYWHERE);
    let url = format!("nfs://{}/", far.address());
    let state = home.path().join("state");
    let mut command = std::process::Command::new(server::HOWDAH);
    command.args(["relay", &url, "--listen", ANYWHERE, "--rpcbind", "off", "--state"]).arg(&state);
    let near = Server::start(command.args(RIGHTS));
    create(&*client(&near));
    assert_eq!(fs::read(home.path().join("data/new")).expect("made"), b"");
    let (code, _, why) = run(std::process::Command::new(server::HOWDAH).args(["relay", "/usr"]));
    assert_eq!(code, Some(2));
    assert!(why.contains("only an export of another server is cached"), "{why}");
}

#[test]
fn a_far_directory_that_is_replaced_is_mounted_again() {
    let home = home();
    let origin = origin(home.path(), ANYWHERE);
    let relay = relay(home.path(), &origin, ANYWHERE);
    let url = format!("nfs://{}/", relay.address()).parse().expect("a URL");
    let has = |name: &[u8]| {
        let client = connect(&url, &ConnectOptions::default()).ok()?;
        client.lookup(&me(), &client.root(), Name::parse(name).expect("a name")).ok()
    };
    assert!(has(b"file").is_some());
    let data = home.path().join("data");
    fs::rename(&data, home.path().join("moved")).expect("moved");
    fs::create_dir(&data).expect("made");
    fs::write(data.join("other"), "").expect("written");
    let until = Instant::now() + Duration::from_secs(120);
    while has(b"other").is_none() {
        assert!(Instant::now() < until, "the relay still has the directory that was moved away");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(has(b"file").is_none());
}

#[test]
fn a_relay_that_calls_from_low_ports_takes_calls_from_such_ports_and_says_whose_locks_it_knows() {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "calling from low ports takes root");
        return;
    }
    let home = home();
    let home = home.path();
    let far = origin(home, ANYWHERE);
    let url = format!("nfs://{}/", far.address());
    let mut near = Server::start(serve(&home.join("near")).args(["--cache", &url, "--listen", ANYWHERE]));
    assert!(near.screen.contains("ports below 1024"), "{}", near.screen);
    assert!(!near.screen.contains("any port"), "{}", near.screen);
    near.log_line("locks apply only among clients of this server");
    // Root's own client calls from such a port.
    client(&near);
    drop(near);
    let near = relay(home, &far, ANYWHERE);
    assert!(near.screen.contains("any port"), "as it was configured: {}", near.screen);
}
