//! One connection: a request, and what it asks for, within bounds.

use std::io::{self, ErrorKind, IoSlice};
use std::mem;
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
/// Who says nothing for so long has gone, unless packets come.
pub const SILENCE: Duration = Duration::from_secs(10);
/// What is sent at once, and received at once.
const PIECE: usize = 256 << 10;

/// How long is waited: in all, and for something.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    until: Instant,
    silence: Duration,
}

/// Serves it to its end. Malformed requests get no answer, and idle peers are disconnected.
pub fn serve(stream: &Stream, secrets: &Secrets, silence: Duration) -> io::Result<()> {
    let bounds = Bounds { until: Instant::now() + LASTS, silence };
    let Some(request) = line(stream, bounds, || false)?.as_deref().and_then(Request::parse) else {
        return Ok(());
    };
    match request {
        Request::Facts => tell(stream, bounds),
        Request::Send(seconds) => {
            send(stream, Bounds { until: Instant::now() + Duration::from_secs(seconds), ..bounds })
        }
        Request::Take => take(stream, bounds),
        Request::Bounce => bounce(stream, secrets, bounds),
    }
}

fn tell(stream: &Stream, bounds: Bounds) -> io::Result<()> {
    let facts = serde_json::to_vec(&crate::probe::host()).map_err(io::Error::other)?;
    send_all(stream, &facts, bounds)
}

fn send(stream: &Stream, bounds: Bounds) -> io::Result<()> {
    make_room(stream.as_fd());
    let piece = vec![0; PIECE];
    while Instant::now() < bounds.until {
        if stream.send(&[IoSlice::new(&piece)], false)? == Sent::WouldBlock {
            wait(stream, PollFlags::OUT, bounds)?;
        }
    }
    Ok(())
}

fn take(stream: &Stream, bounds: Bounds) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    while Instant::now() < bounds.until {
        match stream.receive(&mut piece)? {
            Sent::Bytes(0) => return Ok(()),
            Sent::Bytes(_) => {}
            Sent::WouldBlock => wait(stream, PollFlags::IN, bounds)?,
        }
    }
    Ok(())
}

/// Sends the secret, then at each line how many came. A peer that looks for the longest packet sends no lines meanwhile, only
/// packets.
fn bounce(stream: &Stream, secrets: &Secrets, bounds: Bounds) -> io::Result<()> {
    let mut secret = [0; SECRET];
    rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())?;
    let count = secrets.add(secret);
    let answer = || -> io::Result<()> {
        send_all(stream, format!("{:016x}\n", u64::from_be_bytes(secret)).as_bytes(), bounds)?;
        let mut before = 0;
        let mut has_come = || {
            let came = count.load(Ordering::Relaxed);
            came != mem::replace(&mut before, came)
        };
        while line(stream, bounds, &mut has_come)?.is_some() {
            send_all(stream, format!("{}\n", count.load(Ordering::Relaxed)).as_bytes(), bounds)?;
        }
        Ok(())
    };
    let outcome = answer();
    secrets.remove(&secret);
    outcome
}

/// A line without its end; `None` if the other has closed. After a silence `is_there` says whether to go on.
fn line(stream: &Stream, bounds: Bounds, mut is_there: impl FnMut() -> bool) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    while line.len() < LINE_MOST {
        let mut byte = [0];
        match stream.receive(&mut byte)? {
            Sent::Bytes(0) => return Ok(None),
            Sent::Bytes(_) if byte[0] == b'\n' => return Ok(String::from_utf8(line).ok()),
            Sent::Bytes(_) => line.push(byte[0]),
            Sent::WouldBlock => match wait(stream, PollFlags::IN, bounds) {
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    if Instant::now() >= bounds.until || !is_there() {
                        return Err(error);
                    }
                }
                outcome => outcome?,
            },
        }
    }
    Ok(None)
}

fn send_all(stream: &Stream, mut bytes: &[u8], bounds: Bounds) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.send(&[IoSlice::new(bytes)], false)? {
            Sent::Bytes(count) => bytes = &bytes[count..],
            Sent::WouldBlock => wait(stream, PollFlags::OUT, bounds)?,
        }
    }
    Ok(())
}

fn wait(stream: &Stream, flags: PollFlags, bounds: Bounds) -> io::Result<()> {
    let left = bounds.until.saturating_duration_since(Instant::now()).min(bounds.silence);
    let left = Timespec::try_from(left).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
    match poll(&mut [PollFd::new(stream, flags)], Some(&left)) {
        Ok(0) => Err(ErrorKind::TimedOut.into()),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpStream;
    use std::thread;

    use howdah_net::Listener;

    use super::super::datagram::Head;
    use super::*;

    /// Longer than a busy machine keeps a thread waiting.
    const SILENCE: Duration = Duration::from_secs(3);

    fn connected() -> (TcpStream, Stream) {
        let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let client = TcpStream::connect(listener.address()).expect("it listens");
        let accepted = std::iter::repeat_with(|| listener.accept().expect("a connection"));
        (client, accepted.flatten().next().expect("it was made"))
    }

    #[test]
    fn who_sends_packets_is_there_though_he_says_nothing() {
        let secrets = Secrets::default();
        let (client, stream) = connected();
        let mut client = BufReader::new(client);
        let answered = |client: &mut BufReader<TcpStream>| {
            let mut line = String::new();
            client.read_line(&mut line).map(|_| line.trim().to_owned())
        };
        thread::scope(|scope| {
            let serving = scope.spawn(|| serve(&stream, &secrets, SILENCE));
            client.get_mut().write_all(Request::Bounce.line().as_bytes()).expect("sent");
            let secret = u64::from_str_radix(&answered(&mut client).expect("a secret"), 16).expect("digits");
            let head = Head { secret: secret.to_be_bytes(), is_short_wanted: true, number: 0 };
            let begin = Instant::now();
            let mut sent = 0;
            client.get_ref().set_read_timeout(Some(SILENCE / 50)).expect("a limit");
            while begin.elapsed() < SILENCE * 2 {
                assert!(secrets.lets_in(&head), "given up after {:?}", begin.elapsed());
                sent += 1;
                assert!(answered(&mut client).is_err(), "nothing was asked");
            }
            client.get_ref().set_read_timeout(None).expect("no limit");
            client.get_mut().write_all(b"count\n").expect("sent");
            assert_eq!(answered(&mut client).expect("a count"), sent.to_string());
            let outcome = serving.join().expect("no panic");
            assert_eq!(outcome.expect_err("silence").kind(), ErrorKind::TimedOut);
            assert!(!secrets.lets_in(&head), "nor are his packets bounced any more");
        });
    }
}
