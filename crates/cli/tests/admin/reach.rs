//! Which servers are reached, and what is said where none is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use howdah_needs::{Lack, skipped};
use rustix::process::Signal;

use crate::asking::{Served, asking, start_in};
use crate::server::{HOWDAH, home, run, serve};

/// `nobody` on every Linux.
const NOBODY: u32 = 65534;

#[test]
fn a_socket_is_private_named_at_start_and_gone_at_the_end() {
    let mut served = Served::start(&[]);
    let socket = served.socket();
    let mode = |path: &std::path::Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().expect("a directory"))), (0o600, 0o700));
    served.server.signal(Signal::TERM);
    assert_eq!(served.server.end().code(), Some(0));
    assert!(!socket.exists());
    let (code, _, why) = served.ask(&["why"]);
    assert!(code == Some(1) && why.contains("no running howdah server found"), "{why}");
}

#[test]
fn what_a_killed_server_leaves_is_swept() {
    let mut served = Served::start(&[]);
    let socket = served.socket();
    served.server.signal(Signal::KILL);
    served.server.end();
    assert!(socket.exists(), "nobody could remove it");
    let (code, _, why) = served.ask(&["why"]);
    assert!(code == Some(1) && why.contains("no running howdah server found"), "{why}");
    assert!(!socket.exists());
}

#[test]
fn a_server_with_another_state_directory_is_named() {
    let (served, elsewhere) = (Served::start(&[]), home());
    let (code, _, why) = asking(elsewhere.path(), &["why"]);
    let socket = served.socket();
    assert!(code == Some(1) && why.contains(&format!("--server {}", socket.display())), "{why}");
}

#[test]
fn a_socket_may_be_elsewhere_or_nowhere() {
    let home = home();
    let place = home.path().join("elsewhere");
    let flag = place.to_str().expect("text");
    let mut server = start_in(home.path(), &["--admin", flag]);
    assert!(server.screen.contains(flag), "{}", server.screen);
    assert_eq!(asking(home.path(), &["get"]).0, Some(0), "it is found by the state directory, too");
    assert_eq!(run(Command::new(HOWDAH).args(["get", "--server", flag])).0, Some(0));
    let (code, _, why) = run(serve(home.path()).arg(home.path().join("data")).args([
        "--listen",
        "127.0.0.1:0",
        "--admin",
        flag,
    ]));
    assert!(code == Some(1) && why.contains("somebody listens there"), "{why}");
    // What a killed one leaves there is in nobody's way.
    server.signal(Signal::KILL);
    server.end();
    let again = start_in(home.path(), &["--admin", flag]);
    assert_eq!(asking(home.path(), &["get"]).0, Some(0));
    drop(again);
    let _silent = start_in(home.path(), &["--admin", "off"]);
    let (code, _, why) = asking(home.path(), &["why"]);
    assert!(code == Some(1) && why.contains("without an admin socket") && why.contains("older"), "{why}");
}

#[test]
fn where_several_run_one_is_named() {
    let home = home();
    // Of two exports: as an ordinary user a server has the index of an export's handles to itself.
    let servers = ["/one", "/two"].map(|export| start_in(home.path(), &["--name", export]));
    let (code, text, _) = asking(home.path(), &["get", "tcp_rcvbuf"]);
    assert_eq!((code, text.matches("howdah ").count()), (Some(0), 2), "{text}");
    let (code, _, why) = asking(home.path(), &["set", "tcp_rcvbuf", "16M"]);
    assert!(code == Some(1) && why.contains("which server is meant") && why.contains("--server"), "{why}");
    let port = format!(":{}", servers[1].address().port());
    let (code, said, _) = asking(home.path(), &["set", "tcp_rcvbuf", "16M", "--server", &port]);
    assert!(code == Some(0) && said.starts_with("tcp_rcvbuf is 16777216"), "{said}");
    let other = servers[0].address().to_string();
    let (_, text, _) = asking(home.path(), &["get", "tcp_rcvbuf", "--server", &other]);
    assert!(text.starts_with("tcp_rcvbuf      auto\n"), "{text}");
    let (code, _, why) = asking(home.path(), &["get", "--server", ":1"]);
    assert!(code == Some(1) && why.contains("no such server") && why.contains(&other), "{why}");
}

#[test]
fn another_users_server_is_not_reached() {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "becoming another user needs root");
        return;
    }
    let served = Served::start(&[]);
    // Where the other user may run it.
    let program = served.home.path().join("howdah");
    // By another process: what a test starts meanwhile would have our copy open for writing, and such a file does not run.
    assert!(Command::new("cp").arg(HOWDAH).arg(&program).status().expect("coreutils").success());
    for path in [served.home.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours");
    }
    let state = served.home.path().join("state");
    let socket = served.socket();
    for arguments in
        [["--state", state.to_str().expect("text")], ["--server", socket.to_str().expect("text")]]
    {
        let (code, _, why) = run(Command::new(&program).arg("why").args(arguments).uid(NOBODY).gid(NOBODY));
        assert!(code == Some(1) && why.contains("root") && why.contains("sudo"), "{arguments:?}: {why}");
    }
}
