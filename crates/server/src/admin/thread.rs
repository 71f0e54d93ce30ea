//! The thread of the admin interface: it starts with the server and ends with it, and takes the socket's name along.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use howdah_net::LocalListener;
use parking_lot::Mutex;
use tokio::net::UnixListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::exchange::accept;
use super::history::STEP;
use super::routes::{Asked, router};
use crate::shared::Shared;
use crate::tuning::Knobs;

/// The admin interface of a running server; it ends when this is dropped.
pub struct Admin {
    /// Dropped to end the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Admin {
    /// Answers on that socket.
    ///
    /// # Errors
    /// What the host refuses: a thread, descriptors.
    pub fn start(shared: Arc<Shared>, knobs: Arc<Knobs>, listener: LocalListener) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let socket = {
            let _context = runtime.enter();
            UnixListener::from_std(listener.socket()?)?
        };
        let (stop, stopped) = oneshot::channel();
        let asked = Arc::new(Asked { shared, knobs, history: Mutex::default() });
        let body = move || {
            run(&runtime, socket, asked, stopped);
            drop(listener);
        };
        let thread = std::thread::Builder::new().name("admin".into()).spawn(body)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

fn run(runtime: &Runtime, socket: UnixListener, asked: Arc<Asked>, stopped: oneshot::Receiver<()>) {
    runtime.spawn(remember(Arc::clone(&asked)));
    runtime.spawn(accept(socket, router(asked)));
    // It ends with an error: nothing is ever sent.
    let _ = runtime.block_on(stopped);
}

/// Looks where the time of connections goes, so that it can be told of the last minute.
async fn remember(asked: Arc<Asked>) {
    loop {
        let now = asked.shared.started.elapsed();
        asked.history.lock().look(now, &asked.shared.tuner.lock());
        tokio::time::sleep(STEP).await;
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
