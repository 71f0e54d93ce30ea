//! `howdah top` on a terminal of its own, and without one.

use std::process::Command;

use rustix::process::Signal;

use crate::asking::{Served, start_in};
use crate::server::{HOWDAH, home};
use crate::tty::Tty;

/// Letters of ctrl-l: all is drawn anew.
const ANEW: &str = "\x0c";

fn top(home: &std::path::Path, columns: u16, lines: u16) -> Tty {
    let mut command = Command::new(HOWDAH);
    command.args(["top", "--interval", "0.1", "--state"]).arg(home.join("state"));
    Tty::start(&mut command, columns, lines)
}

#[test]
fn it_takes_the_terminal_and_gives_it_back() {
    let served = Served::start(&[]);
    let mut tty = top(served.home.path(), 80, 24);
    tty.wait_for(&["\x1b[?1049h", "[2 clients: 0]", "no client is connected", "q quit"]);
    tty.press("1");
    tty.wait_for_new(&["[1 exports: 1]", "MEAN"]);
    tty.resize(120, 30);
    tty.wait_for_new(&["MOSTLY"]);
    tty.press("q");
    let (status, after) = tty.end();
    assert_eq!((status.code(), after.contains("panicked")), (Some(0), false));
}

#[test]
fn ctrl_z_gives_the_terminal_back_until_it_goes_on() {
    let served = Served::start(&[]);
    let mut tty = top(served.home.path(), 80, 24);
    tty.wait_for(&["[2 clients: 0]"]);
    tty.press("1");
    tty.wait_for_new(&["[1 exports: 1]"]);
    tty.press("\x1a");
    tty.wait_for_stop();
    // Meanwhile the terminal is somebody else's, and gets another size.
    tty.resize(120, 30);
    tty.written.clear();
    tty.signal(Signal::CONT);
    tty.wait_for(&["\x1b[?1049h", "[1 exports: 1]", "MOSTLY", "q quit"]);
    tty.press("2");
    tty.wait_for(&["[2 clients: 0]"]);
    // Taken again twice, it would be given back in between, and a key of that moment would be lost.
    assert_eq!(tty.written.matches("\x1b[?1049h").count(), 1, "{:?}", tty.written);
    tty.press("1");
    tty.wait_for_new(&["[1 exports: 1]"]);
    tty.press("\x1a");
    tty.wait_for_stop();
    tty.signal(Signal::CONT);
    tty.wait_for_new(&["\x1b[?1049h", "[1 exports: 1]"]);
    tty.press("q");
    assert_eq!(tty.end().0.code(), Some(0));
}

#[test]
fn a_signal_ends_it_as_well() {
    let served = Served::start(&[]);
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut tty = top(served.home.path(), 80, 24);
        tty.wait_for(&["[2 clients: 0]"]);
        tty.signal(signal);
        assert_eq!(tty.end().0.code(), Some(code));
    }
}

#[test]
fn a_server_that_is_gone_is_asked_again_until_it_is_back() {
    let home = home();
    let server = start_in(home.path(), &[]);
    let mut tty = top(home.path(), 100, 24);
    tty.wait_for(&["[2 clients: 0]"]);
    drop(server);
    tty.wait_for_new(&["no answer since"]);
    let server = start_in(home.path(), &[]);
    let port = format!(":{} (process", server.address().port());
    // top draws only cells that changed. This makes it draw the text that the test reads.
    loop {
        tty.press(ANEW);
        tty.wait_for_new(&["q quit"]);
        if tty.written.contains(&port) && !tty.written.contains("no answer") {
            break;
        }
    }
    tty.press("\x03");
    assert_eq!(tty.end().0.code(), Some(0), "ctrl-c ends it");
}

#[test]
fn scripts_get_lines_or_json_and_a_code() {
    let served = Served::start(&[]);
    let (code, text, why) = served.ask(&["top", "--once", "--interval", "0.1"]);
    assert_eq!(code, Some(0), "{why}");
    assert!(
        text.starts_with("howdah ") && text.contains("\nEXPORT ") && text.contains("\nCONNECTION "),
        "{text}"
    );
    assert!(!text.contains('\x1b') && text.contains("MOSTLY"), "no terminal bounds it: {text}");
    let said = served.json(&["top", "--once", "--interval", "0.1"]);
    assert_eq!(said["exports"][0]["export"], "/", "{said}");
    assert!(said["all"]["calls_per_second"].as_f64().is_some(), "{said}");

    let (code, _, why) = served.ask(&["top", "clients", "--sort", "SIZE", "--once"]);
    assert!(code == Some(2) && why.contains("clients have the columns CLIENT, CONN"), "{why}");
    let nobody = home();
    let (code, text, why) = crate::asking::asking(nobody.path(), &["top"]);
    assert_eq!((code, text.as_str()), (Some(1), ""));
    assert!(why.contains("no running howdah server found"), "{why}");
}
