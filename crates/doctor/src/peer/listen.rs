//! Listens for doctors.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use howdah_net::{Listener, UdpSocket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::bounce::{Secrets, bounce};
use super::serve::{SILENCE, serve};

/// Where, if nobody says another port: nobody's so far, and ten times that of NFS.
pub const PORT: u16 = 20_490;
/// Connections at a time: one that measures, one that bounces, and two that are about to go.
const CONNECTIONS: usize = 4;
/// It ends by itself: what is forgotten must not stand open.
const LASTS: Duration = Duration::from_secs(3600);
/// How soon it notices that it is to end.
const TICK: Duration = Duration::from_millis(200);

/// A doctor that listens.
#[derive(Debug)]
pub struct Listening {
    listener: Listener,
    datagrams: UdpSocket,
}

/// Listens at this address over TCP and UDP.
///
/// # Errors
/// It is taken, or not ours.
pub fn listen(at: SocketAddr) -> Result<Listening> {
    let listener = Listener::bind(at).with_context(|| format!("listening at {at}"))?;
    let at = listener.address();
    let datagrams = UdpSocket::bind(at).with_context(|| format!("listening at {at} over UDP"))?;
    datagrams.forbid_cutting().context("forbidding packets to be cut")?;
    Ok(Listening { listener, datagrams })
}

impl Listening {
    /// Where, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Answers until somebody sets `stop`, or it has listened long enough.
    ///
    /// # Errors
    /// The kernel takes its sockets away.
    pub fn run(&self, stop: &AtomicBool) -> Result<()> {
        let (secrets, busy) = (Secrets::default(), Arc::new(AtomicUsize::new(0)));
        let until = Instant::now() + LASTS;
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let bouncing = scope.spawn(|| bounce(&self.datagrams, &secrets, &is_over));
            let accepting = || -> io::Result<()> {
                while !stop.load(Ordering::Relaxed) && Instant::now() < until {
                    wait(&self.listener)?;
                    while let Some(stream) = self.listener.accept()? {
                        if busy.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
                            // Dropped, and so closed: it may ask again.
                            busy.fetch_sub(1, Ordering::Relaxed);
                            continue;
                        }
                        let (busy, secrets) = (Arc::clone(&busy), &secrets);
                        scope.spawn(move || {
                            // One that breaks off is nobody's fault here.
                            let _ = serve(&stream, secrets, SILENCE);
                            busy.fetch_sub(1, Ordering::Relaxed);
                        });
                    }
                }
                Ok(())
            };
            let outcome = accepting();
            is_over.store(true, Ordering::Relaxed);
            bouncing.join().expect("it does not panic").context("bouncing datagrams")?;
            outcome.context("waiting for connections")
        })
    }
}

fn wait(socket: &impl AsFd) -> io::Result<()> {
    let tick = Timespec::try_from(TICK).expect("a fifth of a second is a time");
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&tick)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
