//! The live page: who reaches it, and what a real browser makes of it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use crate::asking::{Served, until};
use crate::browser::browser;
use crate::server::{HOWDAH, run};

/// Where the page is, and the token in its file.
pub fn page(served: &Served) -> (String, String) {
    let line = served.server.screen.lines().find(|line| line.starts_with("Live page")).expect("it has one");
    let (place, file) =
        line.split_once(": ").and_then(|(_, rest)| rest.split_once(" (token: ")).expect("both");
    let token = fs::read_to_string(file.trim_end_matches(')')).expect("readable");
    (place.to_owned(), token.trim().to_owned())
}

fn status(place: &str, path: &str, token: Option<&str>) -> String {
    let address = place.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).expect("it listens");
    let token = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{token}\r\n")
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    answer.split(' ').nth(1).expect("a status").to_owned()
}

#[test]
fn who_has_the_token_is_answered_and_it_is_printed_nowhere() {
    let mut served = Served::start(&["--admin-listen", "127.0.0.1:0"]);
    let (place, token) = page(&served);
    assert_eq!(status(&place, "/", None), "200");
    for path in ["/v1", "/metrics", "/v1/knobs"] {
        assert_eq!(
            (status(&place, path, None), status(&place, path, Some(&token))),
            ("401".into(), "200".into())
        );
    }
    assert!(!served.server.screen.contains(&token), "the screen is not a terminal's: it may be kept");
    let (_, held, _) = served.ask(&["exports"]);
    assert!(held.contains(&place) && !held.contains(&token), "{held}");
    served.server.signal(rustix::process::Signal::TERM);
    let log = served.server.log_to_the_end();
    assert!(log.iter().any(|line| line.contains("live page")), "{log:?}");
    assert!(log.iter().all(|line| !line.contains(&token)), "{log:?}");
}

#[test]
fn other_hosts_need_tls_and_files_that_are_what_they_should_be() {
    let home = crate::server::home();
    let data = home.path().join("data");
    let data = data.to_str().expect("text");
    let refused = |flags: &[&str]| {
        let (code, _, why) =
            run(Command::new(HOWDAH).args(["serve", data, "--listen", "127.0.0.1:0"]).args(flags));
        (code, why)
    };
    let (code, why) = refused(&["--admin-listen", "0.0.0.0:0"]);
    assert!(code == Some(2) && why.contains("--admin-certificate") && why.contains("ssh -L"), "{why}");
    let (code, why) = refused(&["--admin-key", "key.pem"]);
    assert!(code == Some(2) && why.contains("--admin-listen"), "{why}");
    let state = home.path().join("state");
    let state = ["--state", state.to_str().expect("text")];
    let file = home.path().join("data/file");
    let file = file.to_str().expect("text");
    let tls = ["--admin-listen", "127.0.0.1:0", "--admin-certificate", file, "--admin-key", file];
    let (code, why) = refused(&[&state[..], &tls].concat());
    assert!(code == Some(1) && why.contains("no certificate in PEM") && why.contains(file), "{why}");
    let (code, why) =
        refused(&[&state[..], &["--admin-listen", "127.0.0.1:0", "--admin-token", file]].concat());
    assert!(code == Some(1) && why.contains("chmod 600"), "{why}");
}

#[test]
fn a_real_browser_shows_it() {
    let Some(browser) = browser() else { return };
    let served = Served::start(&["--admin-listen", "127.0.0.1:0"]);
    let (place, token) = page(&served);
    let _connected = TcpStream::connect(served.server.address()).expect("connected");
    let shown = |url: &str| {
        let profile = tempfile::tempdir().expect("a directory");
        // Its own time, which goes on when nothing is under way.
        let output = Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--enable-logging=stderr",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--virtual-time-budget=3000", "--dump-dom", url])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let complaints: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
        (String::from_utf8(output.stdout).expect("text"), complaints.join("\n"))
    };
    let page = until("the client", || {
        let (page, complaints) = shown(&format!("{place}#token={token}"));
        assert_eq!(complaints, "");
        page.contains("class=\"client\"").then_some(page)
    });
    assert!(page.contains(">All is well") && page.contains(">127.0.0.1<"), "{page}");
    assert!(page.contains("1 connection"), "{page}");
    assert!(
        page.contains("class=\"export\"") && page.contains(" free of "),
        "the export and its space: {page}"
    );
    assert!(!page.contains("id=\"logout\" hidden"), "{page}");
    assert!(!page.contains(&token), "it is nowhere in the page");
    let (page, _) = shown(&place);
    assert!(page.contains("id=\"all\" hidden") && !page.contains("id=\"login\" hidden"), "{page}");
}
