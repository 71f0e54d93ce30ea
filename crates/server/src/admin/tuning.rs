//! `GET /v1/tuning`: how connections are sized, and all that is known of each.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use super::asked::Asked;
use crate::tuning::{TuningReport, report};

/// Answers with the tuning as it is now.
pub async fn tuning(State(asked): State<Arc<Asked>>) -> Json<TuningReport> {
    Json(report(&asked.shared, asked.knobs.are_on()))
}
