//! The floor of reading: the same bytes between two threads, as many calls in flight, by bare system calls. What it takes over UDP
//! beside TCP is what the kernel charges for datagrams.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags};

use xtask::clock;

/// Bytes of a call of READ, and of its reply besides the data, without record marks: with AUTH_SYS and attributes.
const CALL: usize = 136;
const HEAD: usize = 128;
const MARK: usize = 4;
/// Calls in flight over loopback: what the client has for most of the time.
const IN_FLIGHT: usize = 32;

/// What is read, and how.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// What the server has, which is read from its start to its end as often as it takes.
    pub data: &'a [u8],
    /// The same in a file: over TCP the kernel moves it to the socket, as howdah's server does.
    pub file: Option<&'a File>,
    /// Bytes to read.
    pub size: usize,
    /// Bytes of each call.
    pub transfer: usize,
    /// Calls in flight.
    pub in_flight: usize,
}

/// What it took.
#[derive(Debug, Clone, Copy)]
pub struct Took {
    /// From the first call to the last reply.
    pub time: Duration,
    /// Processor time of the server's thread.
    pub server: Duration,
}

/// Reads these bytes, which are none that the processor's caches hold, by calls of so many over TCP; the time that it takes.
pub fn tcp(data: &[u8], transfer: usize) -> anyhow::Result<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0").context("listening")?;
    let client = TcpStream::connect(listener.local_addr()?).context("connecting")?;
    let (server, _) = listener.accept().context("accepting")?;
    stream(client, server, &over_loopback(data, transfer)).map(|took| took.time)
}

/// The same in datagrams.
pub fn udp(data: &[u8], transfer: usize) -> anyhow::Result<Duration> {
    let server = UdpSocket::bind("127.0.0.1:0").context("binding")?;
    let client = UdpSocket::bind("127.0.0.1:0").context("binding")?;
    datagrams(&client, &server, &over_loopback(data, transfer)).map(|took| took.time)
}

fn over_loopback(data: &[u8], transfer: usize) -> Job<'_> {
    Job { data, file: None, size: data.len(), transfer, in_flight: IN_FLIGHT }
}

/// Over a connection.
pub fn stream(mut client: TcpStream, server: TcpStream, job: &Job<'_>) -> anyhow::Result<Took> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    std::thread::scope(|scope| {
        let serving = scope.spawn(move || timed(|| serve_stream(server, job)));
        let time = read_stream(&mut client, job);
        let _ = client.shutdown(Shutdown::Both);
        let server = serving.join().map_err(|_| anyhow!("the floor's server panicked"))??;
        Ok(Took { time: time?, server })
    })
}

/// Between two bound sockets.
pub fn datagrams(client: &UdpSocket, server: &UdpSocket, job: &Job<'_>) -> anyhow::Result<Took> {
    client.connect(server.local_addr()?)?;
    server.connect(client.local_addr()?)?;
    for socket in [server, client] {
        // Without privilege it stays as it is, and so many calls of 32 KiB do not fit.
        let _ = nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::RcvBufForce, &(8 << 20));
        let _ = nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::SndBufForce, &(8 << 20));
    }
    std::thread::scope(|scope| {
        let serving = scope.spawn(move || timed(|| serve_datagrams(server, job)));
        let time = read_datagrams(client, job);
        client.send(&[]).context("ending it")?;
        let server = serving.join().map_err(|_| anyhow!("the floor's server panicked"))??;
        Ok(Took { time: time?, server })
    })
}

/// The processor time that it took this thread.
fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let before = clock::thread_now()?;
    work()?;
    Ok(clock::thread_now()?.saturating_sub(before))
}

fn serve_stream(mut socket: TcpStream, job: &Job<'_>) -> anyhow::Result<()> {
    let (head, mut calls) = ([0; MARK + HEAD], vec![0; job.in_flight * (MARK + CALL)]);
    let (mut have, mut at) = (0, 0);
    loop {
        let count = socket.read(&mut calls[have..]).context("receiving calls")?;
        if count == 0 {
            return Ok(());
        }
        have += count;
        while have >= MARK + CALL {
            have -= MARK + CALL;
            match job.file {
                Some(file) => send_file(&socket, &head, file, at as u64, job.transfer)?,
                None => send(&mut socket, &head, &job.data[at..at + job.transfer])?,
            }
            at = (at + job.transfer) % job.data.len();
        }
    }
}

fn send(socket: &mut TcpStream, head: &[u8], data: &[u8]) -> anyhow::Result<()> {
    let mut pieces = [IoSlice::new(head), IoSlice::new(data)];
    let mut pieces = &mut pieces[..];
    while !pieces.is_empty() {
        let sent = socket.write_vectored(pieces).context("sending a reply")?;
        IoSlice::advance_slices(&mut pieces, sent);
    }
    Ok(())
}

fn send_file(socket: &TcpStream, head: &[u8], file: &File, mut at: u64, length: usize) -> anyhow::Result<()> {
    rustix::net::send(socket, head, SendFlags::MORE).context("sending a reply's head")?;
    let end = at + length as u64;
    while at < end {
        let left = (end - at) as usize;
        rustix::fs::sendfile(socket, file, Some(&mut at), left).context("sending a reply")?;
    }
    Ok(())
}

fn read_stream(socket: &mut TcpStream, job: &Job<'_>) -> anyhow::Result<Duration> {
    let calls = job.size / job.transfer;
    let mut buffers = vec![vec![0; HEAD + MARK + job.transfer]; job.in_flight];
    let start = Instant::now();
    for _ in 0..job.in_flight.min(calls) {
        socket.write_all(&[0; MARK + CALL]).context("sending a call")?;
    }
    for call in 0..calls {
        socket.read_exact(&mut buffers[call % job.in_flight]).context("receiving a reply")?;
        if call + job.in_flight < calls {
            socket.write_all(&[0; MARK + CALL]).context("sending a call")?;
        }
    }
    Ok(start.elapsed())
}

fn serve_datagrams(socket: &UdpSocket, job: &Job<'_>) -> anyhow::Result<()> {
    let (head, mut call, mut at) = ([0; HEAD], [0; CALL], 0);
    while socket.recv(&mut call).context("receiving a call")? > 0 {
        let pieces = [IoSlice::new(&head), IoSlice::new(&job.data[at..at + job.transfer])];
        rustix::net::sendmsg(socket, &pieces, &mut SendAncillaryBuffer::default(), SendFlags::empty())?;
        at = (at + job.transfer) % job.data.len();
    }
    Ok(())
}

fn read_datagrams(socket: &UdpSocket, job: &Job<'_>) -> anyhow::Result<Duration> {
    // Nothing is lost here but by a socket without room.
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let calls = job.size / job.transfer;
    let mut buffers = vec![vec![0; job.transfer]; job.in_flight];
    let start = Instant::now();
    for _ in 0..job.in_flight.min(calls) {
        socket.send(&[0; CALL]).context("sending a call")?;
    }
    for call in 0..calls {
        let mut head = [0; HEAD];
        let mut pieces = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut buffers[call % job.in_flight])];
        rustix::net::recvmsg(socket, &mut pieces, &mut RecvAncillaryBuffer::default(), RecvFlags::empty())
            .context("receiving a reply")?;
        if call + job.in_flight < calls {
            socket.send(&[0; CALL]).context("sending a call")?;
        }
    }
    Ok(start.elapsed())
}
