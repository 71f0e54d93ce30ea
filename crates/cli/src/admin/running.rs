//! A server that runs, and its answers in our words.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow};
use howdah_daemon::host::user_name;
use howdah_server::admin::Index;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::http::{Answer, ask};

/// A server that may be asked.
#[derive(Debug, Clone)]
pub struct AskedServer {
    socket: PathBuf,
    about: Index,
}

/// Why a server does not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Refused {
    /// What is wrong.
    pub error: String,
    /// What to do about it.
    pub hint: String,
}

impl AskedServer {
    /// The server behind that socket.
    pub fn at(socket: &Path) -> Result<Self> {
        let answer = ask(socket, "GET", "/v1", &[]).map_err(|error| unreachable(socket, &error))?;
        let about = understood(socket, &answer)?.map_err(|refused| refused.as_error(socket))?;
        Ok(Self { socket: socket.to_owned(), about })
    }

    /// What it is called where there are several.
    pub fn name(&self) -> String {
        let places: Vec<String> = self.about.listening.iter().map(ToString::to_string).collect();
        format!("howdah {} on {} (process {})", self.about.howdah, places.join(", "), self.about.process)
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.about.process
    }

    /// Whether that may be asked of it.
    pub fn offers(&self, path: &str) -> bool {
        self.about.paths.iter().any(|offered| offered.path == path)
    }

    /// Whether it listens there: at that address and port, or at that port if no address is said.
    pub fn listens_at(&self, place: &str) -> bool {
        let address = place.parse::<SocketAddr>().ok();
        let port = place.strip_prefix(':').and_then(|port| port.parse::<u16>().ok());
        self.about.listening.iter().any(|there| Some(*there) == address || Some(there.port()) == port)
    }

    /// What is there.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let answer = self.ask("GET", path, &[])?;
        understood(&self.socket, &answer)?.map_err(|refused| self.refused(&answer, &refused))
    }

    /// The same where it may be gone: the inner error is the server's word for that.
    pub fn look<T: DeserializeOwned>(&self, path: &str) -> Result<Result<T, Refused>> {
        understood(&self.socket, &self.ask("GET", path, &[])?)
    }

    /// Changes what is there; the inner error is the server's word against it.
    pub fn put<T: DeserializeOwned>(&self, path: &str, value: &Value) -> Result<Result<T, Refused>> {
        let answer = self.ask("PUT", path, value.to_string().as_bytes())?;
        understood(&self.socket, &answer)
    }

    fn ask(&self, method: &str, path: &str, body: &[u8]) -> Result<Answer> {
        ask(&self.socket, method, path, body).map_err(|error| unreachable(&self.socket, &error))
    }

    fn refused(&self, answer: &Answer, refused: &Refused) -> Error {
        const NOT_FOUND: u16 = 404;
        if answer.status == NOT_FOUND && self.about.howdah != env!("CARGO_PKG_VERSION") {
            return anyhow!(
                "asking {}: it does not support this request: it is howdah {}, and this is {}; restart it with this version",
                self.name(),
                self.about.howdah,
                env!("CARGO_PKG_VERSION")
            );
        }
        refused.as_error(&self.socket)
    }
}

impl Refused {
    fn as_error(&self, socket: &Path) -> Error {
        anyhow!("asking the server at {}: {}; {}", socket.display(), self.error, self.hint)
    }
}

/// What was asked for, or what the server has against it.
fn understood<T: DeserializeOwned>(socket: &Path, answer: &Answer) -> Result<Result<T, Refused>> {
    let step = || {
        format!(
            "understanding the server at {}: it may be older or newer than this howdah ({}); restart it with this version",
            socket.display(),
            env!("CARGO_PKG_VERSION")
        )
    };
    if answer.status == 200 {
        return Ok(Ok(serde_json::from_slice(&answer.body).with_context(step)?));
    }
    Ok(Err(serde_json::from_slice(&answer.body).with_context(step)?))
}

/// Why a socket does not answer, and what to do.
fn unreachable(socket: &Path, error: &io::Error) -> Error {
    let place = socket.display();
    match error.kind() {
        ErrorKind::PermissionDenied => {
            anyhow!(
                "cannot ask the server at {place}: it belongs to {}; use sudo, or run as that user",
                owner(socket)
            )
        }
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            anyhow!(
                "cannot ask the server at {place}: no server listens there; howdah exports lists those that run"
            )
        }
        ErrorKind::TimedOut => anyhow!("cannot ask the server at {place}: it did not answer in time"),
        _ => anyhow!("cannot ask the server at {place}: {error}"),
    }
}

/// The owner of what stands there; of the nearest directory above it that may be looked at.
pub fn owner(path: &Path) -> String {
    let metadata = path.ancestors().find_map(|place| fs::metadata(place).ok());
    metadata.map_or_else(|| "another user".to_owned(), |metadata| user_name(metadata.uid()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(listening: &[&str]) -> AskedServer {
        let listening = listening.iter().map(|place| place.parse().expect("an address")).collect();
        let about =
            Index { version: 1, howdah: "0.0.1".to_owned(), process: 7, listening, paths: Vec::new() };
        AskedServer { socket: PathBuf::from("/run/7.admin"), about }
    }

    #[test]
    fn places_name_servers() {
        let server = server(&["127.0.0.1:2049", "[::1]:3049"]);
        for (place, is_there) in
            [("127.0.0.1:2049", true), (":3049", true), (":49", false), ("127.0.0.1:3049", false)]
        {
            assert_eq!(server.listens_at(place), is_there, "{place}");
        }
    }

    #[test]
    fn what_an_older_server_does_not_know_is_said() {
        let refused = Refused { error: "there is no /v1/new".to_owned(), hint: "look".to_owned() };
        let answer = Answer { status: 404, body: Vec::new() };
        let why = server(&["127.0.0.1:1"]).refused(&answer, &refused).to_string();
        assert!(why.contains("it is howdah 0.0.1, and this is"), "{why}");
        let nothing = Answer { status: 200, body: b"{}".to_vec() };
        let why = understood::<Index>(Path::new("/s"), &nothing).expect_err("it is no answer").to_string();
        assert!(why.contains("older or newer"), "{why}");
    }
}
