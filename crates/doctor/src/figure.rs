//! A figure that was seen, and what it is held against.

use serde::Serialize;

/// One line of a rung.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// What it is of.
    pub name: String,
    /// What was seen, with its unit.
    pub value: String,
    /// What it should be, if there is such a thing.
    pub limit: Option<String>,
}

impl Figure {
    /// One that is only reported.
    pub fn told(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), limit: None }
    }

    /// One that is held against something.
    pub fn against(name: impl Into<String>, value: impl Into<String>, limit: impl Into<String>) -> Self {
        Self { limit: Some(limit.into()), ..Self::told(name, value) }
    }
}
