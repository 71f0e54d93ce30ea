//! The thread of the admin interface: it starts with the server and ends with it, and takes the socket's name along.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::locks::Mutex;
use howdah_net::{Listener, LocalListener};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, oneshot};

use super::address::AdminAddress;
use super::asked::Asked;
use super::exchange::{Kept, accept, accept_tcp};
use super::gate::Gate;
use super::history::STEP;
use super::metrics::MetricsSettings;
use super::routes::{metrics_router, router};
use crate::shared::Shared;
use crate::tuning::Knobs;

/// Where it is reached.
#[derive(Debug, Default)]
pub struct AdminSockets {
    /// For all questions.
    pub local: Option<LocalListener>,
    /// For all questions, of those who have the token.
    pub address: Option<AdminAddress>,
    /// For metrics alone.
    pub metrics: Option<Listener>,
}

impl AdminSockets {
    /// Whether there is any.
    pub fn is_some(&self) -> bool {
        self.local.is_some() || self.address.is_some() || self.metrics.is_some()
    }
}

/// The admin interface of a running server; it ends when this is dropped.
pub struct Admin {
    /// Dropped to end the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Admin {
    /// Answers on these sockets.
    ///
    /// # Errors
    /// What the host refuses: a thread, descriptors.
    pub fn start(
        shared: Arc<Shared>,
        knobs: Arc<Knobs>,
        sockets: AdminSockets,
        metrics: MetricsSettings,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let asked = Arc::new(Asked {
            shared,
            knobs,
            history: Mutex::default(),
            metrics,
            space: Arc::default(),
            heads: Arc::default(),
        });
        {
            let _context = runtime.enter();
            if let Some(local) = &sockets.local {
                let socket = UnixListener::from_std(local.socket()?)?;
                runtime.spawn(accept(socket, router(Arc::clone(&asked), Gate::Socket)));
            }
            if let Some(AdminAddress { listener, token, certificate }) = &sockets.address {
                let socket = TcpListener::from_std(listener.socket()?)?;
                let tls = certificate.clone();
                let gate = Gate::Remote { token: token.clone(), certificate: certificate.clone() };
                runtime.spawn(accept_tcp(socket, router(Arc::clone(&asked), gate), Kept::Awhile, tls));
            }
            if let Some(metrics) = &sockets.metrics {
                let socket = TcpListener::from_std(metrics.socket()?)?;
                let router = metrics_router(Arc::clone(&asked), metrics.address().ip());
                runtime.spawn(accept_tcp(socket, router, Kept::Once, None));
            }
        }
        let (stop, stopped) = oneshot::channel();
        let body = move || {
            run(&runtime, asked, stopped);
            // A file system that does not answer must not keep the server from its end.
            runtime.shutdown_background();
            drop(sockets);
        };
        let thread = std::thread::Builder::new().name("admin".into()).spawn(body)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

fn run(runtime: &Runtime, asked: Arc<Asked>, stopped: oneshot::Receiver<()>) {
    runtime.spawn(remember(asked));
    // It ends with an error: nothing is ever sent.
    let _ = runtime.block_on(stopped);
}

/// Looks where the time of connections goes, so that the last minute can be shown; while there is anything to see.
async fn remember(asked: Arc<Asked>) {
    let woken = Arc::new(Notify::new());
    let wake = Arc::clone(&woken);
    asked.shared.sizing.on_wake(Box::new(move || wake.notify_one()));
    loop {
        let now = asked.shared.started.elapsed();
        asked.history.lock().look(now, &asked.shared.tuner.lock());
        let capture = &asked.shared.service.dispatcher.capture;
        capture.look_after();
        if !capture.is_kept() && asked.shared.sizing.waits_too() {
            woken.notified().await;
        }
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
