//! What is answered when something is not: a status of HTTP, and JSON that says what and what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// A refusal.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    body: Body,
}

/// What is answered with a status from 400 on.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Failure")]
pub struct Body {
    /// What is wrong.
    error: String,
    /// What to do about it.
    hint: String,
}

impl Failure {
    /// With that status, because of that, with that advice.
    pub fn new(status: StatusCode, error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { status, body: Body { error: error.into(), hint: hint.into() } }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
