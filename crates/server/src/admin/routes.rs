//! Which path is answered by which file; nothing else imports handlers.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use parking_lot::Mutex;

use super::failure::Failure;
use super::gate::{Gate, has_token, is_meant};
use super::history::History;
use super::index::index;
use super::metrics::{MetricsSettings, metrics};
use super::{clients, counts, knobs, memory, page, samples, tuning, udp};
use crate::shared::Shared;
use crate::tuning::Knobs;

/// Bytes of a request's body: a knob's value has some ten.
const BODY_MAX: usize = 64 << 10;

/// What there is: method, path, what it is about.
pub const PATHS: &[(&str, &str, &str)] = &[
    ("GET", "/v1", "what there is"),
    ("GET", "/v1/tuning", "how connections are sized, what limits each, and its figures"),
    ("GET", "/v1/clients", "who is connected, what limits each, and where the time went"),
    (
        "GET",
        "/v1/samples",
        "what was seen of connections in the last two minutes; ?client=ADDRESS&since=SECONDS",
    ),
    ("GET", "/v1/memory", "what all connections together hold in the kernel, of what they may"),
    ("GET", "/v1/udp", "what UDP's sockets have carried, by address and interface"),
    ("GET", "/v1/procedures", "what was asked, how it ended and how long it took, by procedure"),
    ("GET", "/v1/exports", "the same by export"),
    ("GET", "/v1/workers", "what workers do now: wait for calls, run them, wait for storage"),
    ("GET", "/v1/knobs", "what may be set while the server runs"),
    ("GET", "/v1/knobs/{name}", "one of them"),
    ("PUT", "/v1/knobs/{name}", "sets it: {\"value\": \"16M\"}, or \"auto\""),
];

/// What is asked about.
pub struct Asked {
    /// The state behind all workers.
    pub shared: Arc<Shared>,
    /// What may be set.
    pub knobs: Arc<Knobs>,
    /// Where the time of connections went.
    pub history: Mutex<History>,
    /// What monitors are told beyond the usual.
    pub metrics: MetricsSettings,
}

/// What monitors may ask, on a TCP address: nothing else.
pub fn metrics_router(asked: Arc<Asked>) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .fallback(only_metrics)
        .method_not_allowed_fallback(wrong_method)
        .with_state(asked)
}

async fn only_metrics(uri: Uri) -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        format!("there is no {} here", uri.path()),
        "this address has /metrics alone; all else is on the admin socket",
    )
}

/// All of it, for those whom the gate lets through.
pub fn router(asked: Arc<Asked>, gate: Gate) -> Router {
    let gate = Arc::new(gate);
    answers()
        .layer(from_fn_with_state(Arc::clone(&gate), has_token))
        .merge(page::routes())
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(from_fn_with_state(gate, is_meant))
        .with_state(asked)
}

/// What may be asked.
fn answers() -> Router<Arc<Asked>> {
    Router::new()
        .route("/v1", get(index))
        .route("/metrics", get(metrics))
        .route("/v1/tuning", get(tuning::tuning))
        .route("/v1/clients", get(clients::clients))
        .route("/v1/samples", get(samples::samples))
        .route("/v1/memory", get(memory::memory))
        .route("/v1/udp", get(udp::udp))
        .route("/v1/procedures", get(counts::procedures))
        .route("/v1/exports", get(counts::exports))
        .route("/v1/workers", get(counts::workers))
        .route("/v1/knobs", get(knobs::list))
        .route("/v1/knobs/{name}", get(knobs::get).put(knobs::put))
}

async fn unknown(uri: Uri) -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        format!("there is no {}", uri.path()),
        "GET /v1 lists what there is; a newer howdah may have more",
    )
}

async fn wrong_method(method: Method, uri: Uri) -> Failure {
    Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("{} does not take {method}", uri.path()),
        "GET /v1 lists what there is, with methods",
    )
}
