//! Which tables there are, and their rows in the order and selection that somebody chose.

use std::cmp::Ordering;

use clap::ValueEnum;

use super::seen::Seen;
use super::table::{Column, Row, Sort};
use super::{clients, connections, exports};

/// Which table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// One row per export.
    Exports,
    /// One row per client.
    Clients,
    /// One row per connection.
    Connections,
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
