//! The floor of reading over loopback: the same bytes between two threads, as many calls in flight, by bare system calls.
//! What it takes over UDP beside TCP is what the kernel charges for datagrams.

use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags};

/// Bytes of a call of READ, and of its reply besides the data, without record marks: with AUTH_SYS and attributes.
const CALL: usize = 136;
const HEAD: usize = 128;
const MARK: usize = 4;
/// Calls in flight: what the client has for most of the time.
const IN_FLIGHT: usize = 32;

/// Reads these bytes, which are none that the processor's caches hold, by calls of so many over TCP; the time that it takes.
pub fn tcp(data: &[u8], transfer: usize) -> anyhow::Result<Duration> {
    let listener = TcpListener::bind("127.0.0.1:0").context("listening")?;
    let mut client = TcpStream::connect(listener.local_addr()?).context("connecting")?;
    let (server, _) = listener.accept().context("accepting")?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    std::thread::scope(|scope| {
        let serving = scope.spawn(move || serve_stream(server, data, transfer));
        let took = read_stream(&mut client, data.len(), transfer);
        let _ = client.shutdown(Shutdown::Both);
        serving.join().map_err(|_| anyhow!("the floor's server panicked"))??;
        took
    })
}

fn serve_stream(mut socket: TcpStream, data: &[u8], transfer: usize) -> anyhow::Result<()> {
    let (head, mut calls) = ([0; MARK + HEAD], vec![0; IN_FLIGHT * (MARK + CALL)]);
    let (mut have, mut at) = (0, 0);
    loop {
        let count = socket.read(&mut calls[have..]).context("receiving calls")?;
        if count == 0 {
            return Ok(());
        }
        have += count;
        while have >= MARK + CALL {
            have -= MARK + CALL;
            let mut pieces = [IoSlice::new(&head), IoSlice::new(&data[at..at + transfer])];
            let mut pieces = &mut pieces[..];
            while !pieces.is_empty() {
                let sent = socket.write_vectored(pieces).context("sending a reply")?;
                IoSlice::advance_slices(&mut pieces, sent);
            }
            at = (at + transfer) % data.len();
        }
    }
}

fn read_stream(socket: &mut TcpStream, size: usize, transfer: usize) -> anyhow::Result<Duration> {
    let calls = size / transfer;
    let mut buffers = vec![vec![0; HEAD + MARK + transfer]; IN_FLIGHT];
    let start = Instant::now();
    for _ in 0..IN_FLIGHT.min(calls) {
        socket.write_all(&[0; MARK + CALL]).context("sending a call")?;
    }
    for call in 0..calls {
        socket.read_exact(&mut buffers[call % IN_FLIGHT]).context("receiving a reply")?;
        if call + IN_FLIGHT < calls {
            socket.write_all(&[0; MARK + CALL]).context("sending a call")?;
        }
    }
    Ok(start.elapsed())
}

/// The same in datagrams.
pub fn udp(data: &[u8], transfer: usize) -> anyhow::Result<Duration> {
    let server = UdpSocket::bind("127.0.0.1:0").context("binding")?;
    let client = UdpSocket::bind("127.0.0.1:0").context("binding")?;
    client.connect(server.local_addr()?)?;
    server.connect(client.local_addr()?)?;
    for socket in [&server, &client] {
        // Without privilege it stays as it is, and so many calls of 32 KiB do not fit.
        let _ = nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::RcvBufForce, &(8 << 20));
        let _ = nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::SndBufForce, &(8 << 20));
    }
    std::thread::scope(|scope| {
        let serving = scope.spawn(move || serve_datagrams(&server, data, transfer));
        let took = read_datagrams(&client, data.len(), transfer);
        client.send(&[]).context("ending it")?;
        serving.join().map_err(|_| anyhow!("the floor's server panicked"))??;
        took
    })
}

fn serve_datagrams(socket: &UdpSocket, data: &[u8], transfer: usize) -> anyhow::Result<()> {
    let (head, mut call, mut at) = ([0; HEAD], [0; CALL], 0);
    while socket.recv(&mut call).context("receiving a call")? > 0 {
        let pieces = [IoSlice::new(&head), IoSlice::new(&data[at..at + transfer])];
        rustix::net::sendmsg(socket, &pieces, &mut SendAncillaryBuffer::default(), SendFlags::empty())?;
        at = (at + transfer) % data.len();
    }
    Ok(())
}

fn read_datagrams(socket: &UdpSocket, size: usize, transfer: usize) -> anyhow::Result<Duration> {
    // Nothing is lost here but by a socket without room.
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let calls = size / transfer;
    let mut buffers = vec![vec![0; transfer]; IN_FLIGHT];
    let start = Instant::now();
    for _ in 0..IN_FLIGHT.min(calls) {
        socket.send(&[0; CALL]).context("sending a call")?;
    }
    for call in 0..calls {
        let mut head = [0; HEAD];
        let mut pieces = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut buffers[call % IN_FLIGHT])];
        rustix::net::recvmsg(socket, &mut pieces, &mut RecvAncillaryBuffer::default(), RecvFlags::empty())
            .context("receiving a reply")?;
        if call + IN_FLIGHT < calls {
            socket.send(&[0; CALL]).context("sending a call")?;
        }
    }
    Ok(start.elapsed())
}
