//! The binary as people and service managers run it, as whatever user runs the tests.

#[path = "running/server.rs"]
mod server;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_needs::{Lack, skipped};
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, FsError, Name, NewAttributes, ReadFile, SetAttributes,
    Stability, WriteFile,
};
use rustix::process::Signal;
use server::{HOWDAH, Server, home, run, serve};

const HERE: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// NULL of NFSv3 (RFC 1813 3.3.0) in a record: header of the call, no credentials.
fn answers_null(stream: &mut TcpStream) {
    let words: [u32; 11] = [0x8000_0028, 7, 0, 2, 100_003, 3, 0, 0, 0, 0, 0];
    let call: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    stream.write_all(&call).expect("sent");
    let mut reply = [0; 28];
    stream.read_exact(&mut reply).expect("answered");
    let words: Vec<u32> =
        reply.chunks(4).map(|word| u32::from_be_bytes(word.try_into().expect("four"))).collect();
    assert_eq!(words, [0x8000_0018, 7, 1, 0, 0, 0, 0], "accepted and successful");
}

#[test]
fn serves_a_directory_and_ends_when_asked() {
    let home = home();
    let mut server = Server::start(serve(home.path()).arg(home.path().join("data")).args(HERE));
    let address = server.address();
    assert!(address.ip().is_loopback() && address.port() != 0, "{address}");
    let port = address.port();
    for expected in [
        format!(
            "mount -t nfs -o vers=3,proto=tcp,port={port},mountport={port},mountproto=tcp,nolock 127.0.0.1:/ /mnt"
        ),
        format!("mount -t nfs -o vers=3,tcp,port={port},mountport={port},locallocks 127.0.0.1:/ /mnt"),
        format!("nfs://127.0.0.1/?nfsport={port}&mountport={port}"),
        home.path().join("data").canonicalize().expect("there").display().to_string(),
    ] {
        assert!(server.screen.contains(&expected), "{expected} in\n{}", server.screen);
    }
    assert!(!server.screen.contains("kill -HUP"), "there is no file to read again: {}", server.screen);
    answers_null(&mut TcpStream::connect(address).expect("it listens"));

    let key = fs::metadata(home.path().join("state/handle.key")).expect("the key was made");
    assert_eq!((key.len(), key.permissions().mode() & 0o777), (32, 0o600));
    let (code, shown, _) =
        run(Command::new(HOWDAH).arg("exports").arg("--state").arg(home.path().join("state")));
    assert_eq!(code, Some(0));
    assert!(shown.contains("export /\n") && shown.contains(&address.to_string()), "{shown}");

    server.signal(Signal::TERM);
    server.log_line("stopped");
    assert_eq!(server.end().code(), Some(0));
    let (code, _, why) =
        run(Command::new(HOWDAH).arg("exports").arg("--state").arg(home.path().join("state")));
    assert_eq!(code, Some(1), "{why}");
}

#[test]
fn reloads_without_dropping_a_connection() {
    let home = home();
    let (data, file) = (home.path().join("data"), home.path().join("howdah.toml"));
    let export = |name: &str| format!("[[export]]\nname = \"{name}\"\npath = \"{}\"\n", data.display());
    fs::write(&file, export("/one")).expect("written");
    let mut server = Server::start(serve(home.path()).arg("--config").arg(&file).args(HERE));
    let mut stream = TcpStream::connect(server.address()).expect("it listens");
    answers_null(&mut stream);
    assert!(server.screen.contains("Reload the configuration: kill -HUP"), "{}", server.screen);
    let exports = || run(Command::new(HOWDAH).arg("exports").arg("--state").arg(home.path().join("state"))).1;

    fs::write(&file, format!("{}\n{}", export("/one"), export("/two"))).expect("written");
    server.signal(Signal::HUP);
    server.log_line("configuration reloaded: added /two");
    assert!(exports().contains("export /two"));
    answers_null(&mut stream);

    fs::write(&file, "[[export]]\nname = \"two\"\n").expect("written");
    server.signal(Signal::HUP);
    server.log_line("the old configuration stays");
    server.log_line("howdah.toml:2:8");
    assert!(exports().contains("export /two"));
    answers_null(&mut stream);

    server.signal(Signal::INT);
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_reload_waits_for_no_far_server() {
    let home = home();
    let (data, file) = (home.path().join("data"), home.path().join("howdah.toml"));
    let near = format!("[[export]]\nname = \"/near\"\npath = \"{}\"\n", data.display());
    fs::write(&file, &near).expect("written");
    let mut server = Server::start(serve(home.path()).arg("--config").arg(&file).args(HERE));
    let mut stream = TcpStream::connect(server.address()).expect("it listens");
    // Takes connections, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("any port");
    let port = silent.local_addr().expect("bound").port();
    let far = format!("[[export]]\nname = \"/far\"\nurl = \"nfs://127.0.0.1:{port}/x\"\n");
    fs::write(&file, format!("{near}\n{far}")).expect("written");
    server.signal(Signal::HUP);
    server.log_line("does not answer: the export is served once it does");
    server.log_line("configuration reloaded");
    answers_null(&mut stream);
    server.signal(Signal::INT);
    assert_eq!(server.end().code(), Some(0));
}

/// A client of the server's only export.
fn client(server: &Server) -> Result<Arc<dyn Remote>, String> {
    let url = format!("nfs://{}/", server.address()).parse().expect("a URL");
    connect(&url, &ConnectOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn a_directory_that_is_removed_or_moved_is_noticed_and_a_new_one_is_served() {
    let home = home();
    let [data, aside] = ["data", "aside"].map(|name| home.path().join(name));
    // Where files are confined, another directory is out of reach.
    let mut server =
        Server::start(serve(home.path()).arg(&data).args(HERE).args(["--sandbox", "no-landlock"]));
    let shown = || run(Command::new(HOWDAH).arg("exports").arg("--state").arg(home.path().join("state"))).1;
    let me = me();
    let file = Name::parse(b"file").expect("a name");
    let first = client(&server).expect("it is there");
    let old = first.lookup(&me, &first.root(), file).expect("it is there").node.handle;

    fs::rename(&data, &aside).expect("moved away");
    server.log_line("the export is gone: there is no directory");
    let why = client(&server).map(drop).expect_err("there is nothing to mount");
    assert!(why.contains("the server exports /, but does not find its directory"), "{why}");
    server.log_line("mount refused: there is no directory");
    assert!(shown().contains("GONE              there is no directory"), "{}", shown());
    first.attributes(&me, &old).expect("what is mounted goes on");
    fs::rename(&aside, &data).expect("moved back");
    server.log_line("the export is back");
    assert!(!shown().contains("GONE"), "{}", shown());
    client(&server).expect("it is there again");

    fs::remove_dir_all(&data).expect("removed");
    fs::create_dir(&data).expect("made again");
    fs::write(data.join("file"), "new").expect("written");
    server.log_line("the export is back");
    let second = client(&server).expect("the new one is there");
    let new = second.lookup(&me, &second.root(), file).expect("it is there").node;
    assert_eq!(new.attributes.size, 3);
    for stale in [first.root(), old] {
        assert_eq!(first.attributes(&me, &stale).map(drop), Err(FsError::Stale));
    }

    fs::rename(&data, &aside).expect("moved away");
    fs::create_dir(&data).expect("another in its place");
    server.log_line("the export is back");
    let third = client(&server).expect("the third one is there");
    assert_eq!(third.attributes(&me, &second.root()).map(drop), Err(FsError::Stale), "it lies elsewhere");
    server.signal(Signal::TERM);
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn set_id_bits_are_kept_only_where_the_export_says_so() {
    let is_root = rustix::process::geteuid().is_root();
    let (named, anybody) = (Name::parse(b"program").expect("a name"), Caller::new(1000, 1000));
    for (flags, kept) in [(&[][..], false), (&["--set-id"], is_root)] {
        let home = home();
        let data = home.path().join("data");
        fs::set_permissions(&data, PermissionsExt::from_mode(0o777)).expect("open to all");
        let mut server = Server::start(serve(home.path()).arg(&data).args(HERE).args(flags));
        let client = client(&server).expect("it is there");
        let how = Create::Guarded(NewAttributes::with_mode(0o6755));
        let made =
            client.create(&anybody, CreateFile::new(&client.root(), named, &how), &mut Change::default());
        let made = made.expect("CREATE").handle;
        let mode = || fs::metadata(data.join("program")).expect("it is there").permissions().mode() & 0o7777;
        let expected = if kept { 0o6755 } else { 0o755 };
        assert_eq!(mode(), expected, "{flags:?}: CREATE");
        let new = NewAttributes::with_mode(0o4755);
        client
            .set_attributes(&anybody, SetAttributes::new(&made, &new, None), &mut Change::default())
            .expect("SETATTR");
        assert_eq!(mode(), expected & !0o2000, "{flags:?}: SETATTR");
        server.signal(Signal::TERM);
        assert_eq!(server.end().code(), Some(0));
    }
}

#[test]
fn a_server_that_was_started_nice_stays_so_and_does_not_complain() {
    const NICER: i32 = 15;
    // The tests themselves may be run nicer than others.
    let niceness = (rustix::process::getpriority_process(None).expect("our own") + NICER).min(19).to_string();
    let home = home();
    let mut command = Command::new("nice");
    command.args(["-n", &NICER.to_string(), HOWDAH, "serve", "--rpcbind", "off", "--log", "info", "--state"]);
    let mut server =
        Server::start(command.arg(home.path().join("state")).arg(home.path().join("data")).args(HERE));
    let tasks = fs::read_dir(format!("/proc/{}/task", server.process())).expect("it lives");
    for task in tasks {
        let stat = fs::read_to_string(task.expect("listed").path().join("stat")).expect("it lives");
        let after_name = stat.rsplit_once(')').expect("a name").1;
        assert_eq!(after_name.split_ascii_whitespace().nth(16), Some(&*niceness), "{stat}");
    }
    server.signal(Signal::TERM);
    let log = server.log_to_the_end().join("\n");
    assert!(!log.contains("not run behind others"), "{log}");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_reload_that_drops_an_export_lets_go_of_its_mount() {
    const CHILD: &str = "HOWDAH_TEST_NAMESPACE";
    let allowed = |mut command: Command| command.status().is_ok_and(|status| status.success());
    if std::env::var_os(CHILD).is_none() {
        let unshare = || {
            let mut command = Command::new("unshare");
            command.args(["--mount", "--propagation", "private"]);
            command
        };
        let (mut probe, mut run) = (unshare(), unshare());
        probe.arg("true").stderr(std::process::Stdio::null());
        if !rustix::process::geteuid().is_root() || !allowed(probe) {
            skipped(Lack::Namespaces, "this takes a mount namespace");
            return;
        }
        let test = "a_reload_that_drops_an_export_lets_go_of_its_mount";
        run.arg(std::env::current_exe().expect("own path"))
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, "1");
        assert!(allowed(run), "in the namespace");
        return;
    }
    let home = home();
    let (file, mounted) = (home.path().join("howdah.toml"), home.path().join("mounted"));
    fs::create_dir(&mounted).expect("made");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "none"]).arg(&mounted);
    assert!(allowed(mount), "mounts");
    fs::write(mounted.join("file"), "hello").expect("written");
    let unmount = || {
        let mut command = Command::new("umount");
        command.arg(&mounted).stderr(std::process::Stdio::null());
        allowed(command)
    };
    let export = |name: &str| {
        format!("[[export]]\nname = \"/{name}\"\npath = \"{}\"\n", home.path().join(name).display())
    };
    fs::write(&file, export("data") + "\n" + &export("mounted")).expect("written");
    let mut server = Server::start(serve(home.path()).arg("--config").arg(&file).args(HERE));
    let url = format!("nfs://{}/mounted", server.address()).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let named = Name::parse(b"file").expect("a name");
    client.lookup(&Caller::ROOT, &client.root(), named).expect("it is there");
    assert!(!unmount(), "it is served");

    fs::write(&file, export("data")).expect("written");
    server.signal(Signal::HUP);
    server.log_line("configuration reloaded");
    let start = Instant::now();
    while !unmount() {
        assert!(start.elapsed() < Duration::from_secs(60), "it is still busy");
    }
    server.signal(Signal::TERM);
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn says_who_has_the_port() {
    let home = home();
    let other = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = other.local_addr().expect("bound").to_string();
    let (code, _, why) = run(serve(home.path()).arg(home.path().join("data")).args(["--listen", &address]));
    assert_eq!(code, Some(1));
    let me = format!("(process {}) has it", std::process::id());
    assert!(why.contains(&address) && why.contains(&me) && why.contains("--listen"), "{why}");
}

#[test]
fn a_start_that_fails_for_want_of_a_port_leaves_nothing() {
    let home = home();
    let other = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = other.local_addr().expect("bound").to_string();
    for flag in ["--listen", "--metrics", "--admin-listen"] {
        let mut command = Command::new(HOWDAH);
        command.arg("serve").arg(home.path().join("data")).args(["--rpcbind", "off", flag, &address]);
        let listen = if flag == "--listen" { &[][..] } else { &HERE[..] };
        let (code, _, why) = run(command.args(listen).arg("--state").arg(home.path().join("a/b/state")));
        assert!(code == Some(1) && why.contains(&address), "{flag}: {why}");
        assert!(!home.path().join("a").exists(), "{flag}");
    }
}

#[test]
fn more_exports_than_files_that_may_be_open_are_told_the_remedy() {
    let home = home();
    let (data, file) = (home.path().join("data"), home.path().join("howdah.toml"));
    let export = |number| format!("[[export]]\nname = \"/{number}\"\npath = \"{}\"\n", data.display());
    fs::write(&file, (0..60).map(export).collect::<String>()).expect("written");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 100; exec \"$0\" \"$@\"", HOWDAH, "serve", "--rpcbind", "off"]).args(HERE);
    command.arg("--state").arg(home.path().join("state")).arg("--config").arg(&file);
    let (code, _, why) = run(&mut command);
    assert_eq!(code, Some(1), "{why}");
    // A warning before, and with the error what to do.
    for part in ["only 100 open files allowed", "too many open files", "ulimit -n, or LimitNOFILE="] {
        assert!(why.contains(part), "{part} in {why}");
    }
}

#[test]
fn says_what_is_wrong_with_the_state_directory() {
    let home = home();
    fs::write(home.path().join("state"), "not a directory").expect("written");
    let (code, _, why) = run(serve(home.path()).arg(home.path().join("data")).args(HERE));
    assert_eq!(code, Some(1));
    assert!(why.contains("--state DIR"), "{why}");
}

#[test]
fn tells_the_service_manager_and_takes_its_sockets() {
    let home = home();
    let manager = UnixDatagram::bind(home.path().join("notify")).expect("bound");
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = listener.local_addr().expect("bound");
    // The shell moves the socket from 0 to 3 and keeps its process id for howdah, as systemd does.
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ WATCHDOG_USEC=100000 WATCHDOG_PID=$$ exec \"$0\" \"$@\"", HOWDAH, "serve"])
        .arg(home.path().join("data"))
        .args(["--rpcbind", "off", "--state"])
        .arg(home.path().join("state"))
        .env("NOTIFY_SOCKET", home.path().join("notify"))
        .stdin(OwnedFd::from(listener));
    let mut server = Server::start(&mut command);
    assert_eq!(server.address(), address);
    answers_null(&mut TcpStream::connect(address).expect("it listens"));

    // Signs of life come in between whenever they are due; so many did.
    let heard = |wanted: &str| {
        let mut buffer = [0; 512];
        for signs in 0.. {
            let length = manager.recv(&mut buffer).expect("it tells");
            let said = String::from_utf8_lossy(&buffer[..length]);
            if said.starts_with(wanted) {
                return signs;
            }
            assert_eq!(said.trim_end(), "WATCHDOG=1", "while waiting for {wanted}");
        }
        unreachable!("it is silent in the end")
    };
    heard("READY=1");
    heard("WATCHDOG=1");
    // Also of one that is never left alone for as long as until the next is due.
    let begin = Instant::now();
    let mut signs = 0;
    while signs < 2 && begin.elapsed() < Duration::from_secs(10) {
        server.signal(Signal::HUP);
        signs += heard("RELOADING=1") + heard("READY=1");
        server.log_line("there is no configuration file");
    }
    assert!(signs > 1, "{signs} in {:?}", begin.elapsed());
    server.signal(Signal::TERM);
    heard("STOPPING=1");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn writes_manual_pages_and_completions() {
    let home = home();
    let (code, _, why) = run(Command::new(HOWDAH).arg("man").arg(home.path().join("man")));
    assert_eq!(code, Some(0), "{why}");
    for page in ["howdah.1", "howdah-serve.1", "howdah-check.1", "howdah-exports.1"] {
        let text = fs::read_to_string(home.path().join("man").join(page)).expect(page);
        assert!(text.starts_with(".ie") || text.starts_with(".TH"), "{page}: {text}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let (code, script, _) = run(Command::new(HOWDAH).args(["completions", shell]));
        assert!(code == Some(0) && script.contains("privileged-ports"), "{shell}");
    }
}

/// Who calls in these tests.
fn me() -> Caller {
    Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw())
}

#[test]
fn memory_and_what_another_server_exports_are_served_like_a_directory() {
    let (near, far) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let squash = ["--squash", "none", "--privileged-ports=never"];
    let origin = Server::start(serve(far.path()).arg("memory:4M").args(HERE).args(squash));
    assert!(origin.screen.contains("/  memory, 4 MiB at most"), "{}", origin.screen);
    let url = format!("nfs://{}/", origin.address());
    let start = |address: &str| {
        let listen = ["--listen", address];
        Server::start(serve(near.path()).arg(&url).args(listen).args(squash))
    };
    let relay = start("127.0.0.1:0");
    assert!(relay.screen.contains("forwarded to that server"), "{}", relay.screen);
    let name = |text: &'static str| Name::parse(text.as_bytes()).expect("a name");
    let (through, direct) = (client(&relay).expect("it serves"), client(&origin).expect("it serves"));
    let mut change = Change::default();
    let new = Create::Guarded(NewAttributes::with_mode(0o640));
    let file = through
        .create(&me(), CreateFile::new(&through.root(), name("f"), &new), &mut change)
        .expect("made")
        .handle;
    let data = Data::Bytes(b"through the relay");
    through.write(&me(), WriteFile::new(&file, 0, data, Stability::FileSync), &mut change).expect("written");
    let found = direct.lookup(&me(), &direct.root(), name("f")).expect("it is there").node;
    assert_eq!((found.attributes.size, found.attributes.user), (17, me().user), "as its caller");

    // Handles outlive the relay.
    let address = relay.address().to_string();
    drop(relay);
    let _relay = start(&address);
    let mut read = Vec::new();
    through.read(&me(), ReadFile::new(&file, 0, 100), &mut read).expect("the same handle");
    assert_eq!(read, b"through the relay");
}

#[test]
fn a_server_that_cannot_be_served_again_says_why() {
    let home = home();
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let (code, _, why) = run(serve(home.path()).arg(format!("nfs://{nobody}/")).args(HERE));
    assert_eq!(code, Some(1));
    assert!(why.contains("opening export /") && why.contains("127.0.0.1"), "{why}");
    let file = home.path().join("howdah.toml");
    let both = "[[export]]\nname = \"/\"\npath = \"/usr\"\nmemory = \"1M\"\n[[export]]\nname = \"/m\"\nmemory = \"9\"\n\
                [[export]]\nname = \"/u\"\nurl = \"http://host/x\"\n";
    fs::write(&file, both).expect("written");
    let (code, _, why) = run(Command::new(HOWDAH).arg("check").arg(&file));
    assert_eq!(code, Some(2), "{why}");
    for part in ["one of `path`, `memory` and `url`", "starts at 1M", "is no NFS URL"] {
        assert!(why.contains(part), "{part} in\n{why}");
    }
}

#[test]
fn a_server_that_acts_as_nobody_else_refuses_to_read_quotas() {
    let home = home();
    for directory in [home.path().to_owned(), home.path().join("data")] {
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).expect("set");
    }
    // The program as it lies may be out of reach of another user. By another process: a file that is open for writing does not run.
    let program = home.path().join("howdah");
    assert!(Command::new("cp").arg(HOWDAH).arg(&program).status().expect("coreutils").success());
    let mut command = Command::new(program);
    command.args(["serve", "--quotas", "--rpcbind", "off", "--state"]).arg(home.path().join("state"));
    command.arg(home.path().join("data")).args(HERE);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    let (code, _, errors) = run(&mut command);
    assert_eq!(code, Some(1), "{errors}");
    let lines =
        "cannot read the quotas of export /: only a server that acts as its callers may; start it as root";
    assert!(errors.contains(lines), "{errors}");
}
