//! `GET /v1/capture` and `PUT /v1/capture`: a record of calls, begun, read out and ended.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use howdah_capture::{Call, Names};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::failure::Failure;
use crate::capture::{self, Limits};

/// What is to be done.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CaptureOrder")]
pub struct Order {
    /// Begin, or end.
    pub run: bool,
    /// End that one, and no other.
    #[serde(default)]
    pub capture: Option<u64>,
    /// End by itself after so long.
    #[serde(default = "seconds")]
    pub seconds: f64,
    /// End by itself after so many calls.
    #[serde(default = "calls")]
    pub calls: u64,
    /// How names are written.
    #[serde(default)]
    pub names: Names,
}

/// Calls, and how the capture stood before they were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Captured {
    /// How it stood.
    pub state: capture::State,
    /// The number of the last call in this answer: the next question's `after`. Asking so forgets the calls of this answer.
    pub last: u64,
    /// At most some thousands: ask again. When it has ended and there is none here, you have all.
    pub calls: Vec<Call>,
}

/// Of which capture, and after which call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    capture: Option<u64>,
    #[serde(default)]
    after: u64,
}

fn seconds() -> f64 {
    capture::SECONDS
}

fn calls() -> u64 {
    capture::CALLS
}

/// Begins or ends a capture; answers how it stands.
pub async fn put(
    State(asked): State<Arc<Asked>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<capture::State>, Failure> {
    let body = body.map_err(|rejection| Failure::new(rejection.status(), rejection.body_text(), EXAMPLE))?;
    let order: Order = serde_json::from_slice(&body).map_err(|error| {
        Failure::new(StatusCode::BAD_REQUEST, format!("reading the body: {error}"), EXAMPLE)
    })?;
    let recorder = &asked.shared.service.dispatcher.capture;
    if !order.run {
        return recorder.end(order.capture).map(Json).ok_or_else(none);
    }
    let limits = limits(&order)?;
    let begun = recorder.begin(limits);
    // Its time is looked after while something moves.
    asked.shared.sizing.wake();
    begun.map(Json).map_err(|error| {
        let hint = "GET /v1/capture reports its state, and PUT with {\"run\": false} ends it";
        Failure::new(StatusCode::CONFLICT, error.to_string(), hint)
    })
}

/// Answers with its calls.
pub async fn get(
    State(asked): State<Arc<Asked>>,
    after: Result<Query<After>, QueryRejection>,
) -> Result<Json<Captured>, Failure> {
    let Query(After { capture, after }) = after.map_err(|rejection| {
        let hint = "as in /v1/capture?after=4711, with `last` of the answer before";
        Failure::new(StatusCode::BAD_REQUEST, rejection.body_text(), hint)
    })?;
    let captured = asked.shared.service.dispatcher.capture.calls(capture, after);
    captured.map(|(state, last, calls)| Json(Captured { state, last, calls })).ok_or_else(none)
}

const EXAMPLE: &str = "the body is JSON, as in {\"run\": true, \"seconds\": 60}";

fn limits(order: &Order) -> Result<Limits, Failure> {
    let Order { seconds, calls, names, .. } = *order;
    let refuse = |error: String| Failure::new(StatusCode::BAD_REQUEST, error, "nothing was begun");
    if !(seconds > 0.0 && seconds <= capture::SECONDS_MOST) {
        return Err(refuse(format!("seconds: more than 0 and at most {}", capture::SECONDS_MOST)));
    }
    if calls == 0 || calls > capture::CALLS_MOST {
        return Err(refuse(format!("calls: at least 1 and at most {}", capture::CALLS_MOST)));
    }
    Ok(Limits { seconds, calls, names })
}

fn none() -> Failure {
    let hint = "PUT /v1/capture with {\"run\": true} begins one; it ends when nobody asks for its calls for 15 seconds, and 15 later they are lost";
    Failure::new(StatusCode::NOT_FOUND, "there is no such capture", hint)
}
