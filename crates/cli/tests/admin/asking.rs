//! A server that serves, and questions to it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::{HOWDAH, Server, home, run, serve};

/// How long a loaded machine may take for something that comes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A server in a home of its own.
pub struct Served {
    pub home: tempfile::TempDir,
    pub server: Server,
}

impl Served {
    /// Starts it with these flags.
    pub fn start(flags: &[&str]) -> Self {
        let home = home();
        let server = start_in(home.path(), flags);
        Self { home, server }
    }

    /// Its URL of that file.
    pub fn url(&self, file: &str) -> String {
        let port = self.server.address().port();
        format!("nfs://127.0.0.1/{file}?nfsport={port}&mountport={port}")
    }

    /// Its directory.
    pub fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// `howdah` with these arguments, asking this server.
    pub fn ask(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        asking(self.home.path(), arguments)
    }

    /// The same in JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let (code, output, why) = self.ask(&[arguments, &["--json"]].concat());
        assert_eq!(code, Some(0), "{arguments:?}: {why}");
        serde_json::from_str(&output).expect("JSON")
    }

    /// Its admin socket, as the screen names it.
    pub fn socket(&self) -> PathBuf {
        let line =
            self.server.screen.lines().find(|line| line.starts_with("Admin socket")).expect("it has one");
        PathBuf::from(line.split_once(": ").expect("a path").1)
    }
}

/// A server in that home.
pub fn start_in(home: &Path, flags: &[&str]) -> Server {
    Server::start(serve(home).arg(home.join("data")).args(["--listen", "127.0.0.1:0"]).args(flags))
}

/// `howdah` with these arguments, asking the servers of that home.
pub fn asking(home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).args(arguments).arg("--state").arg(home.join("state")))
}

/// Looks until something is there.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waiting for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
