//! The routers of the admin interface: all questions, and metrics alone.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Extension, Router};

use super::asked::Asked;
use super::failure::Failure;
use super::gate::{Gate, has_token, is_meant};
use super::metrics::metrics;
use super::page;
use super::question::Questions;
use super::questions::QUESTIONS;
use crate::limits::ADMIN_BODY_MAX;

/// What monitors may ask, on this TCP address: nothing else. On loopback a page in a browser of this host must not ask by a name that
/// was made to lead here; what other hosts reach anyway is asked by whatever name they have for it.
pub fn metrics_router(asked: Arc<Asked>, at: IpAddr) -> Router {
    let router = Router::new()
        .route("/metrics", get(metrics))
        .fallback(only_metrics)
        .method_not_allowed_fallback(wrong_method);
    let router = match is_local(at) {
        true => router.layer(from_fn_with_state(Arc::new(Gate::Loopback), is_meant)),
        false => router,
    };
    router.with_state(asked)
}

/// Whether only this host reaches the address, however it is written.
fn is_local(at: IpAddr) -> bool {
    at.to_canonical().is_loopback()
}

async fn only_metrics(uri: Uri) -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        format!("there is no {} here", uri.path()),
        "this address has /metrics alone; all else is on the admin socket",
    )
}

/// All of it, for callers that the gate lets through.
pub fn router(asked: Arc<Asked>, gate: Gate) -> Router {
    let gate = Arc::new(gate);
    answers()
        .layer(from_fn_with_state(Arc::clone(&gate), has_token))
        .merge(page::routes())
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(ADMIN_BODY_MAX))
        .layer(from_fn_with_state(gate, is_meant))
        .with_state(asked)
}

/// What may be asked.
fn answers() -> Router<Arc<Asked>> {
    let questions = QUESTIONS.iter();
    questions
        .fold(Router::new(), |router, question| router.route(question.path, (question.answered)()))
        .layer(Extension(Questions(QUESTIONS)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_local_in_both_spellings() {
        for (address, local) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("::ffff:10.0.0.7", false),
            ("10.0.0.7", false),
            ("::", false),
        ] {
            assert_eq!(is_local(address.parse().expect("an address")), local, "{address}");
        }
    }
}
