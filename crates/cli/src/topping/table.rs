//! Tables of what was seen, whatever they are shown on: their columns, and rows in the order and selection that somebody chose.

use std::cmp::Ordering;

use clap::ValueEnum;

use super::seen::Seen;
use super::{clients, connections, exports};

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// What is served.
    Exports,
    /// Who uses it.
    Clients,
    /// Over which connections.
    Connections,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// What stands above it, and what it is called to sort by it.
    pub title: &'static str,
    /// Letters that it has; the least, if it stretches.
    pub width: u16,
    /// Columns with a higher rank go first where there is little room.
    pub rank: u8,
    /// Whether it is text: to the left, and sorted by its letters.
    pub is_text: bool,
    /// Whether it has as many letters as what stands in it, or at the end of the row those that are left.
    pub stretches: bool,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// By what it is known again.
    pub key: String,
    /// One for each column.
    pub cells: Vec<Cell>,
    /// What is told of it beside the table.
    pub about: Vec<String>,
    /// Whether anything happens there.
    pub is_busy: bool,
}

/// A figure, or a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// As people read it.
    pub text: String,
    /// What it is sorted by, if it is a figure.
    pub value: f64,
    /// Whether it is worth a look.
    pub is_alarming: bool,
}

/// In what order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// By this column.
    pub column: usize,
    /// The largest first.
    pub is_descending: bool,
}

impl Kind {
    /// All.
    pub const ALL: [Self; 3] = [Self::Exports, Self::Clients, Self::Connections];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exports => "exports",
            Self::Clients => "clients",
            Self::Connections => "connections",
        }
    }

    /// Its columns.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Self::Exports => exports::COLUMNS,
            Self::Clients => clients::COLUMNS,
            Self::Connections => connections::COLUMNS,
        }
    }

    /// All of its rows.
    pub fn rows(self, seen: &Seen) -> Vec<Row> {
        match self {
            Self::Exports => seen.exports.iter().map(exports::row).collect(),
            Self::Clients => seen.clients.iter().map(clients::row).collect(),
            Self::Connections => seen.connections.iter().map(connections::row).collect(),
        }
    }

    /// The order that it has until somebody chooses another: what does most comes first.
    pub fn usual_sort(self) -> Sort {
        let by = match self {
            Self::Exports => "CALLS/s",
            Self::Clients | Self::Connections => "I/O/s",
        };
        Sort { column: self.column(by).unwrap_or_default(), is_descending: true }
    }

    /// The column of that name.
    pub fn column(self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.title.eq_ignore_ascii_case(name))
    }
}

impl Column {
    /// Figures.
    pub const fn figures(title: &'static str, width: u16, rank: u8) -> Self {
        Self { title, width, rank, is_text: false, stretches: false }
    }

    /// Words.
    pub const fn words(title: &'static str, width: u16, rank: u8) -> Self {
        Self { title, width, rank, is_text: true, stretches: false }
    }

    /// Words that may be long.
    pub const fn long_words(title: &'static str, width: u16, rank: u8) -> Self {
        Self { title, width, rank, is_text: true, stretches: true }
    }
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: 0.0, is_alarming: false }
    }

    /// A figure, as it is told; a hyphen if there is none.
    pub fn figure(value: Option<f64>, tell: impl FnOnce(f64) -> String) -> Self {
        let text = value.map_or_else(|| "-".to_owned(), tell);
        Self { text, value: value.unwrap_or(f64::NEG_INFINITY), is_alarming: false }
    }

    /// One that is worth a look.
    #[must_use]
    pub fn alarming(self, is_alarming: bool) -> Self {
        Self { is_alarming, ..self }
    }
}

impl Row {
    /// Whether a text, in small letters, stands somewhere in it.
    fn holds(&self, text: &str) -> bool {
        self.cells.iter().any(|cell| cell.text.to_lowercase().contains(text))
    }
}

/// The rows in which a text stands, sorted. Equal ones stay in the order of their keys, so that they do not dance.
pub fn chosen(kind: Kind, seen: &Seen, filter: &str, sort: Sort) -> Vec<Row> {
    let filter = filter.to_lowercase();
    let mut rows = kind.rows(seen);
    rows.retain(|row| row.holds(&filter));
    let is_text = kind.columns()[sort.column].is_text;
    rows.sort_by(|one, other| {
        let (first, second) = (&one.cells[sort.column], &other.cells[sort.column]);
        let order = match is_text {
            true => first.text.cmp(&second.text),
            false => first.value.total_cmp(&second.value),
        };
        let order = if sort.is_descending { order.reverse() } else { order };
        order.then_with(|| by_number(&one.key, &other.key))
    });
    rows
}

/// What was seen, but for rows in which a text does not stand.
pub fn only(seen: &Seen, filter: &str) -> Seen {
    let filter = filter.to_lowercase();
    let mut seen = seen.clone();
    seen.exports.retain(|export| exports::row(export).holds(&filter));
    seen.clients.retain(|client| clients::row(client).holds(&filter));
    seen.connections.retain(|connection| connections::row(connection).holds(&filter));
    seen
}

/// Names in the order in which people count them: 10.0.0.9 before 10.0.0.10.
fn by_number(one: &str, other: &str) -> Ordering {
    let parts = |name: &str| {
        name.split(|letter: char| !letter.is_ascii_alphanumeric())
            .map(|part| (part.parse::<u64>().unwrap_or(u64::MAX), part.to_owned()))
            .collect::<Vec<_>>()
    };
    parts(one).cmp(&parts(other))
}
