//! From a connection to its answers: who may ask, how many at once, and for how long.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::certificate::Certificate;
use super::failure::Failure;
use crate::limits::{ADMIN_CONNECTIONS_MAX, ADMIN_HEAD_MAX, ADMIN_PATIENCE};

/// A browser asks again and again on one connection: over TLS, and far away, a new one for each question would cost more than the
/// answer. After so long it has to make another, so that nobody holds a place for ever.
const KEPT: Duration = Duration::from_secs(60);
/// How long to wait where a connection cannot be accepted: descriptors may come back.
const REST: Duration = Duration::from_millis(100);

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// One question.
    Once,
    /// Many, for a while.
    Awhile,
}

/// Takes connections for as long as it is polled.
pub async fn accept(listener: UnixListener, router: Router) {
    let places = Arc::new(Semaphore::new(ADMIN_CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = if may_ask(&stream) { router.clone() } else { Router::new().fallback(refuse) };
                drop(tokio::spawn(exchange(stream, router, Kept::Once, place)));
            }
            Err(error) => {
                tracing::debug!(%error, "accepting on the admin socket");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// The same over TCP, and TLS if there is something to prove who we are.
pub async fn accept_tcp(listener: TcpListener, router: Router, kept: Kept, tls: Option<Certificate>) {
    let places = Arc::new(Semaphore::new(ADMIN_CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        // As the certificate is now: it may be renewed at any time.
        let acceptor = || tls.as_ref().map(|certificate| TlsAcceptor::from(certificate.config()));
        match listener.accept().await.map(|accepted| (accepted, acceptor())) {
            Ok(((stream, _), None)) => drop(tokio::spawn(exchange(stream, router.clone(), kept, place))),
            Ok(((stream, _), Some(tls))) => {
                drop(tokio::spawn(exchange_secretly(tls, stream, router.clone(), kept, place)));
            }
            Err(error) => {
                tracing::debug!(%error, "accepting on an admin address");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

async fn exchange_secretly(
    tls: TlsAcceptor,
    stream: TcpStream,
    router: Router,
    kept: Kept,
    place: OwnedSemaphorePermit,
) {
    match timeout(ADMIN_PATIENCE, tls.accept(stream)).await {
        Ok(Ok(stream)) => exchange(stream, router, kept, place).await,
        Ok(Err(error)) => tracing::debug!(%error, "TLS on an admin address"),
        Err(_) => tracing::debug!("TLS on an admin address took too long"),
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    kept: Kept,
    _place: OwnedSemaphorePermit,
) {
    let served = http1::Builder::new()
        .keep_alive(kept == Kept::Awhile)
        .timer(TokioTimer::new())
        .header_read_timeout(ADMIN_PATIENCE)
        .max_buf_size(ADMIN_HEAD_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = pin!(served);
    if kept == Kept::Awhile && timeout(KEPT, served.as_mut()).await.is_ok() {
        return;
    }
    if kept == Kept::Awhile {
        // The question that is being answered is the last one.
        served.as_mut().graceful_shutdown();
    }
    match timeout(ADMIN_PATIENCE, served).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "on an admin connection"),
        Err(_) => tracing::debug!("an admin connection took too long"),
    }
}

/// The user who runs the server, and root. The socket's mode says the same; who changes it should not give the server away.
fn may_ask(stream: &UnixStream) -> bool {
    let Ok(credentials) = stream.peer_cred() else { return false };
    credentials.uid() == 0 || credentials.uid() == rustix::process::geteuid().as_raw()
}

async fn refuse() -> Failure {
    Failure::new(
        StatusCode::FORBIDDEN,
        "this server is run by another user",
        "ask as the user who runs it, or as root",
    )
}
