//! A thread that lets time pass for the cache: once a second it closes what nobody used.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often. The ages of the cache are counted in it.
const TICK: Duration = Duration::from_secs(1);
/// A mount that becomes read-only is noticed within a second (S-EXPORT-9): each tick looks.
const _: () = assert!(TICK.as_millis() <= 1000);

/// The thread; stops when dropped.
pub(super) struct Housekeeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Housekeeper {
    /// Starts the thread, which calls `tick` once a second.
    pub(super) fn start(mut tick: impl FnMut() + Send + 'static) -> std::io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("housekeeper".to_owned()).spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                tick();
            }
        })?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It only fails if the thread panicked, which was reported when it happened.
            let _ = thread.join();
        }
    }
}
