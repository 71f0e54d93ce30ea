//! The answer to a scrape.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};

use super::facts::MetricsFacts;
use super::families::write;
use super::form::MetricsForm;
use crate::admin::asked::Asked;

/// Answers with all figures as they are now.
pub async fn metrics(
    State(asked): State<Arc<Asked>>,
    headers: HeaderMap,
) -> ([(HeaderName, &'static str); 1], String) {
    let form = MetricsForm::accepted(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()));
    (
        [(CONTENT_TYPE, form.content_type())],
        write(&MetricsFacts::gather(&asked, asked.space.look(&asked.shared).await), form),
    )
}
