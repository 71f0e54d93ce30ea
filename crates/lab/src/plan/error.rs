//! What is wrong in a plan, and where.

use std::fmt;

/// What is wrong in a plan: the file, the line, the key, and what is allowed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1; none if it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl PlanError {
    pub(super) fn at(file: &str, line: usize, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: Some(line), what: what.into() }
    }

    pub(super) fn of(file: &str, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map(|span| line_of(text, span.start));
        let key = line.and_then(|line| key_on(text, line));
        let message = error.message().replace('\n', "; ");
        let what = match key {
            Some(key) if !message.contains(key) => format!("{key}: {message}"),
            _ => message,
        };
        Self { file: file.to_owned(), line, what }
    }
}

/// The line of a place in a text, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// The key, or the table, that a line begins with.
fn key_on(text: &str, line: usize) -> Option<&str> {
    let line = text.lines().nth(line - 1)?;
    let key = line.split_once('=').map_or(line, |(key, _)| key).trim();
    (!key.is_empty() && !key.starts_with('#')).then_some(key)
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for PlanError {}
