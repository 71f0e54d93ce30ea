//! Tables of what was seen, whatever they are shown on: their columns, rows and cells.

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
    pub cells: Vec<TableCell>,
    /// What is shown of it beside the table.
    pub about: Vec<String>,
    /// Whether anything happens there.
    pub is_busy: bool,
}

/// A figure, or a text.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCell {
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

impl TableCell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: 0.0, is_alarming: false }
    }

    /// A figure, as it is shown; a hyphen if there is none.
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
    pub fn holds(&self, text: &str) -> bool {
        self.cells.iter().any(|cell| cell.text.to_lowercase().contains(text))
    }
}
