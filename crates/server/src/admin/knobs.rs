//! `GET /v1/knobs`, `GET /v1/knobs/{name}` and `PUT /v1/knobs/{name}`: what may be set while the server runs.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::failure::Failure;
use crate::tuning::{Knob, KnobError};

/// All knobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnobList {
    /// In the order in which they are shown.
    pub knobs: Vec<Knob>,
}

/// What to set a knob to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// As on the command line, with a unit; or bytes.
    value: Value,
}

/// A size may be a number of bytes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "KnobValue")]
enum Value {
    /// As on the command line: `16M`, `auto`, `bbr`.
    Text(String),
    /// So many.
    Bytes(u64),
}

/// All of them, as they stand.
pub async fn list(State(asked): State<Arc<Asked>>) -> Json<KnobList> {
    Json(KnobList { knobs: asked.knobs.show(&asked.shared) })
}

/// One of them.
pub async fn get(State(asked): State<Arc<Asked>>, Path(name): Path<String>) -> Result<Json<Knob>, Failure> {
    let knobs = asked.knobs.show(&asked.shared);
    let known = || knobs.iter().map(|knob| knob.name.clone()).collect();
    let found = knobs.iter().find(|knob| knob.name == name).cloned();
    Ok(Json(found.ok_or_else(|| refused(&KnobError::Unknown { name, known: known() }))?))
}

/// Turns one; answers how it stands now, and what bounds it.
pub async fn put(
    State(asked): State<Arc<Asked>>,
    Path(name): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Knob>, Failure> {
    let body = body.map_err(|rejection| Failure::new(rejection.status(), rejection.body_text(), EXAMPLE))?;
    let turn: Turn = serde_json::from_slice(&body).map_err(|error| {
        Failure::new(StatusCode::BAD_REQUEST, format!("reading the body: {error}"), EXAMPLE)
    })?;
    let value = match turn.value {
        Value::Text(text) => text,
        Value::Bytes(bytes) => bytes.to_string(),
    };
    asked.knobs.set(&asked.shared, &name, &value).map(Json).map_err(|error| refused(&error))
}

const EXAMPLE: &str = "the body is JSON, as in {\"value\": \"16M\"}";

fn refused(error: &KnobError) -> Failure {
    let (status, hint) = match error {
        KnobError::Unknown { .. } => {
            (StatusCode::NOT_FOUND, "howdah get lists them, and so does GET /v1/knobs")
        }
        KnobError::Refused { .. } => (StatusCode::BAD_REQUEST, "nothing was changed"),
        KnobError::Off => (
            StatusCode::CONFLICT,
            "start the server without --no-tuning, and without tuning = false in its file",
        ),
    };
    Failure::new(status, error.to_string(), hint)
}
