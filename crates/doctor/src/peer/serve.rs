//! One connection: a request, and what it asks for, within bounds.

use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use howdah_net::{Sent, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::bounce::Secrets;
use super::datagram::SECRET;
use super::request::{LINE_MOST, Request};
use crate::send_buffer::make_room;

/// A connection lasts no longer, whatever happens.
const LASTS: Duration = Duration::from_secs(60);
/// Who says nothing for so long has gone.
const SILENCE: Duration = Duration::from_secs(10);
/// What is sent at once, and received at once.
const PIECE: usize = 256 << 10;

/// Serves it to its end. Whoever asks for what is no request gets nothing.
pub fn serve(stream: &Stream, secrets: &Secrets) -> io::Result<()> {
    let until = Instant::now() + LASTS;
    let Some(request) = line(stream, until)?.as_deref().and_then(Request::parse) else { return Ok(()) };
    match request {
        Request::Facts => tell(stream, until),
        Request::Send(seconds) => send(stream, Instant::now() + Duration::from_secs(seconds)),
        Request::Take => take(stream, until),
        Request::Bounce => bounce(stream, secrets, until),
    }
}

fn tell(stream: &Stream, until: Instant) -> io::Result<()> {
    let facts = serde_json::to_vec(&crate::probe::host()).map_err(io::Error::other)?;
    send_all(stream, &facts, until)
}

fn send(stream: &Stream, until: Instant) -> io::Result<()> {
    make_room(stream.as_fd());
    let piece = vec![0; PIECE];
    while Instant::now() < until {
        if stream.send(&[IoSlice::new(&piece)], false)? == Sent::WouldBlock {
            wait(stream, PollFlags::OUT, until)?;
        }
    }
    Ok(())
}

fn take(stream: &Stream, until: Instant) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    while Instant::now() < until {
        match stream.receive(&mut piece)? {
            Sent::Bytes(0) => return Ok(()),
            Sent::Bytes(_) => {}
            Sent::WouldBlock => wait(stream, PollFlags::IN, until)?,
        }
    }
    Ok(())
}

/// Tells the secret, then at each line how many came.
fn bounce(stream: &Stream, secrets: &Secrets, until: Instant) -> io::Result<()> {
    let mut secret = [0; SECRET];
    rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())?;
    let count = secrets.add(secret);
    let answer = || -> io::Result<()> {
        send_all(stream, format!("{:016x}\n", u64::from_be_bytes(secret)).as_bytes(), until)?;
        while line(stream, until)?.is_some() {
            send_all(stream, format!("{}\n", count.load(Ordering::Relaxed)).as_bytes(), until)?;
        }
        Ok(())
    };
    let outcome = answer();
    secrets.remove(&secret);
    outcome
}

/// A line without its end; `None` if the other has closed.
fn line(stream: &Stream, until: Instant) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    while line.len() < LINE_MOST {
        let mut byte = [0];
        match stream.receive(&mut byte)? {
            Sent::Bytes(0) => return Ok(None),
            Sent::Bytes(_) if byte[0] == b'\n' => return Ok(String::from_utf8(line).ok()),
            Sent::Bytes(_) => line.push(byte[0]),
            Sent::WouldBlock => wait(stream, PollFlags::IN, until)?,
        }
    }
    Ok(None)
}

fn send_all(stream: &Stream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.send(&[IoSlice::new(bytes)], false)? {
            Sent::Bytes(count) => bytes = &bytes[count..],
            Sent::WouldBlock => wait(stream, PollFlags::OUT, until)?,
        }
    }
    Ok(())
}

fn wait(stream: &Stream, flags: PollFlags, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now()).min(SILENCE);
    let left = Timespec::try_from(left).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    match poll(&mut [PollFd::new(stream, flags)], Some(&left)) {
        Ok(0) => Err(ErrorKind::TimedOut.into()),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
