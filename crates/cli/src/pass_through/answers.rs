//! What a pass-through relay answers to those who ask: `howdah why` by its admin socket, monitors by TCP. One question of HTTP/1.0 a
//! connection, one at a time.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use howdah_net::{Listener, LocalListener};
use howdah_relay::{RelayReport, metrics};
use howdah_server::admin::{Index, Offered};
use serde_json::json;

/// How long one that asks may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait after a failed accept: no descriptor may be free.
const AGAIN: Duration = Duration::from_millis(100);
/// The longest question that is read, in bytes.
const QUESTION_MAX: usize = 8 << 10;

/// What answers go by.
pub struct RelayAnswers {
    report: Box<dyn Fn() -> RelayReport + Send + Sync>,
    listening: Vec<SocketAddr>,
}

/// An answer: its status, the kind of what comes with it, and that.
type Answer = (&'static str, &'static str, String);

const JSON: &str = "application/json";
const OK: &str = "200 OK";

impl RelayAnswers {
    /// Of a relay that listens there.
    pub fn new(report: impl Fn() -> RelayReport + Send + Sync + 'static, listening: Vec<SocketAddr>) -> Self {
        Self { report: Box::new(report), listening }
    }

    /// RelayAnswers on the admin socket from now on.
    pub fn on_socket(self: std::sync::Arc<Self>, listener: &LocalListener) -> Result<()> {
        let socket = listener.socket().context("the admin socket")?;
        socket.set_nonblocking(false).context("the admin socket")?;
        start("admin", move || self.answer_all(|| accept_local(&socket)))
    }

    /// RelayAnswers monitors from now on.
    pub fn on_address(self: std::sync::Arc<Self>, listener: &Listener) -> Result<()> {
        let socket = listener.socket().context("the address for metrics")?;
        socket.set_nonblocking(false).context("the address for metrics")?;
        start("metrics", move || self.answer_all(|| accept(&socket)))
    }

    fn answer_all<S: Read + Write>(&self, accept: impl Fn() -> io::Result<S>) {
        loop {
            let stream = accept().inspect_err(|_| thread::sleep(AGAIN));
            let answered = stream.and_then(|mut stream| {
                let (status, kind, body) = self.answer(&question(&mut stream)?);
                let length = body.len();
                let head =
                    format!("HTTP/1.0 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
                stream.write_all(head.as_bytes())?;
                stream.write_all(body.as_bytes())
            });
            if let Err(error) = answered {
                tracing::debug!(%error, "a question about this relay");
            }
        }
    }

    fn answer(&self, question: &str) -> Answer {
        let mut words = question.split(' ');
        match (words.next(), words.next()) {
            (Some("GET"), Some("/v1")) => (OK, JSON, json!(self.index()).to_string()),
            (Some("GET"), Some("/v1/relay")) => (OK, JSON, json!((self.report)()).to_string()),
            (Some("GET"), Some("/metrics")) => (OK, "text/plain; version=0.0.4", metrics(&(self.report)())),
            _ => {
                let refused = json!({
                    "error": "a pass-through relay does not support this request",
                    "hint": "howdah why shows its connections; ask the far server for all else"
                });
                ("404 Not Found", JSON, refused.to_string())
            }
        }
    }

    fn index(&self) -> Index {
        let offered = |path: &str, about: &str| Offered {
            method: "GET".to_owned(),
            path: path.to_owned(),
            about: about.to_owned(),
        };
        Index {
            version: 1,
            howdah: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            listening: self.listening.clone(),
            paths: vec![offered("/v1/relay", "What the relay carries")],
        }
    }
}

fn start(name: &str, answer: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(answer);
    started.map(drop).context("starting a thread that answers questions")
}

fn accept_local(socket: &UnixListener) -> io::Result<impl Read + Write> {
    let (stream, _) = socket.accept()?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn accept(socket: &TcpListener) -> io::Result<impl Read + Write> {
    let (stream, _) = socket.accept()?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// The first line of a question, whose end was read.
fn question(stream: &mut impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    let mut piece = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if bytes.len() > QUESTION_MAX => return Err(io::ErrorKind::InvalidData.into()),
            // One who sends byte by byte shuts nobody out.
            _ if Instant::now() > deadline => return Err(io::ErrorKind::TimedOut.into()),
            count => bytes.extend_from_slice(&piece[..count]),
        }
    }
    let line = bytes.split(|&byte| byte == b'\r').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}
