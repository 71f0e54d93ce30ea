//! The answer to a scrape.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};

use super::facts::Facts;
use super::families::write;
use super::form::Form;
use crate::admin::asked::Asked;

/// Answers with all figures as they are now.
pub async fn metrics(
    State(asked): State<Arc<Asked>>,
    headers: HeaderMap,
) -> ([(HeaderName, &'static str); 1], String) {
    let form = Form::accepted(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()));
    (
        [(CONTENT_TYPE, form.content_type())],
        write(&Facts::gather(&asked, asked.space.look(&asked.shared).await), form),
    )
}
