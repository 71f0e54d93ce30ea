//! From a connection to one answer: who may ask, how many at once, and for how long.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::failure::Failure;

/// Connections at once; who comes beyond them waits. Enough for some people and a monitor.
const CONNECTIONS_MAX: usize = 32;
/// A connection is for one question and its answer, and lasts no longer: whoever does not read or write holds no place.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a request's head: ours have some hundred.
const HEAD_MAX: usize = 16 << 10;
/// How long to wait where a connection cannot be accepted: descriptors may come back.
const REST: Duration = Duration::from_millis(100);

/// Takes connections for as long as it is polled.
pub async fn accept(listener: UnixListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = if may_ask(&stream) { router.clone() } else { Router::new().fallback(refuse) };
                drop(tokio::spawn(exchange(stream, router, place)));
            }
            Err(error) => {
                tracing::debug!(%error, "accepting on the admin socket");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// The same over TCP, where anybody of this host may ask.
pub async fn accept_tcp(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(exchange(stream, router.clone(), place))),
            Err(error) => {
                tracing::debug!(%error, "accepting for metrics");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    _place: OwnedSemaphorePermit,
) {
    let served = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    match tokio::time::timeout(PATIENCE, served).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "on the admin socket"),
        Err(_) => tracing::debug!("a connection of the admin socket took too long"),
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
