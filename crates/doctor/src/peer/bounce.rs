//! Sends datagrams back to who has a connection.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use howdah_net::UdpSocket;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::datagram::{Head, SECRET};

/// How soon it notices that it is to end.
const TICK: Duration = Duration::from_millis(200);
/// The longest datagram.
const LONGEST: usize = 65_535;

/// Who may have datagrams bounced, and how many came of each.
#[derive(Debug, Default)]
pub struct Secrets(Mutex<HashMap<[u8; SECRET], Arc<AtomicU64>>>);

impl Secrets {
    /// Lets in who knows this one.
    pub fn add(&self, secret: [u8; SECRET]) -> Arc<AtomicU64> {
        let count = Arc::new(AtomicU64::new(0));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(secret, Arc::clone(&count));
        count
    }

    /// Lets nobody in by it any more.
    pub fn remove(&self, secret: &[u8; SECRET]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(secret);
    }

    /// Counts one of who is let in.
    pub fn lets_in(&self, head: &Head) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&head.secret).is_some_and(|count| {
            count.fetch_add(1, Ordering::Relaxed);
            true
        })
    }
}

/// Bounces until it is to end.
pub fn bounce(socket: &UdpSocket, secrets: &Secrets, stop: &AtomicBool) -> io::Result<()> {
    let mut buffer = vec![0; LONGEST];
    while !stop.load(Ordering::Relaxed) {
        wait(socket)?;
        while let Some(datagram) = socket.receive(&mut buffer)? {
            let came = &buffer[..datagram.length];
            if let Some(head) = Head::parse(came).filter(|head| secrets.lets_in(head)) {
                let answer = &came[..head.answer_length(came.len())];
                // One that does not fit our own interface is lost, as it would be further on.
                let _ = socket.reply(&[IoSlice::new(answer)], &datagram);
            }
        }
    }
    Ok(())
}

fn wait(socket: &impl AsFd) -> io::Result<()> {
    let tick = Timespec::try_from(TICK).expect("a fifth of a second is a time");
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&tick)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
