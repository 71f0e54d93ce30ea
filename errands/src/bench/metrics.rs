//! `cargo xtask bench metrics`: how large `/metrics` is and how long it takes, with many clients told one by one.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use howdah_wire::nfs3::{FileHandle, getattr};
use howdah_wire::rpc::RecordMark;
use socket2::{Domain, Socket, Type};

use super::arguments::{Metrics, Subject};
use super::cores::{self, Cores};
use super::export::Export;
use super::figures::Spread;
use super::load::{check_success, nfs};
use super::machine;
use super::server::Server;
use super::session::Session;
use super::tuning::allow_descriptors;

/// What an answer may weigh, in bytes, and take, in milliseconds.
const SIZE_MAX: usize = 200_000;
const TIME_MAX: f64 = 50.0;
/// The server looks at connections that often at least, and knows then what they moved.
const SEEN_IN: Duration = Duration::from_secs(2);

/// An answer that has not come after this long does not come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Does it.
pub fn run(arguments: &Metrics) -> anyhow::Result<()> {
    ensure!(arguments.runs > 0, "nothing would be measured");
    allow_descriptors(arguments.clients.into())?;
    let cores = Cores::choose()?;
    let export = Export::make(None)?;
    let home = tempfile::tempdir().context("making a directory for the admin socket")?;
    let socket = home.path().join("admin");
    let further =
        ["--admin", &socket.display().to_string(), "--metrics-clients", &arguments.clients.to_string()];
    let subject = Subject {
        server_bin: arguments.server_bin.clone(),
        server_argument: further.map(str::to_owned).to_vec(),
        address: None,
        pid: None,
        directory: None,
        export: "/".to_owned(),
    };
    let server = Server::obtain(&subject, export.path(), cores.server)?;
    cores::stay_on(cores.load)?;
    machine::describe().iter().for_each(|(what, value)| println!("{what}: {value}"));
    let root = Session::mount(server.address, &server.export)?.handle("".as_ref())?;
    let call = nfs(getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&root) });
    let clients = (0..arguments.clients).map(|number| client(number, server.address, &call));
    let clients: Vec<TcpStream> = clients.collect::<anyhow::Result<_>>()?;
    std::thread::sleep(SEEN_IN);
    let mut times = Vec::new();
    let mut size = 0;
    let mut told = 0;
    for _ in 0..arguments.runs {
        let start = Instant::now();
        let answer = ask(&socket, "/metrics")?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        size = size.max(answer.len());
        told = answer.lines().filter(|line| line.starts_with("howdah_client_out_bytes_total{")).count();
    }
    let time = Spread::of(&times).context("no run")?;
    println!(
        "{} clients connected, {told} told: {size} bytes, at most {SIZE_MAX}; {:.2} ({:.2}..{:.2}) ms, at most {TIME_MAX}: {}",
        clients.len(),
        time.median,
        time.least,
        time.most,
        if size <= SIZE_MAX && time.median <= TIME_MAX { "met" } else { "NOT MET" }
    );
    Ok(())
}

/// A client with an address of its own on loopback, which has asked something.
pub fn client(number: u16, server: SocketAddr, call: &[u8]) -> anyhow::Result<TcpStream> {
    let step = || format!("connecting client {number} to {server}");
    let [high, low] = number.to_be_bytes();
    let own = SocketAddr::from((Ipv4Addr::new(127, 1, high, low), 0));
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).with_context(step)?;
    socket.bind(&own.into()).with_context(step)?;
    socket.connect(&server.into()).with_context(step)?;
    let mut stream = TcpStream::from(socket);
    stream.write_all(call).context("sending a call")?;
    let mut mark = [0; RecordMark::SIZE];
    stream.read_exact(&mut mark).context("receiving a reply")?;
    let mut reply = vec![0; RecordMark::from_bytes(mark).length as usize];
    stream.read_exact(&mut reply).context("receiving a reply")?;
    check_success(&reply)?;
    Ok(stream)
}

/// Asks the admin socket; the body of the answer.
pub fn ask(socket: &Path, path: &str) -> anyhow::Result<String> {
    let mut stream = UnixStream::connect(socket).with_context(|| format!("asking for {path}"))?;
    stream.set_read_timeout(Some(PATIENCE)).with_context(|| format!("asking for {path}"))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: howdah\r\nAccept: application/openmetrics-text\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(|| format!("reading {path}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").context("an answer of HTTP has a head")?;
    ensure!(head.starts_with("HTTP/1.0 200") || head.starts_with("HTTP/1.1 200"), "refused: {head}");
    Ok(body.to_owned())
}
