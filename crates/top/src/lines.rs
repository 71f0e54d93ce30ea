//! What was seen as plain lines: for pipes, and terminals that can do no more.

use super::head::figures;
use super::kind::{Kind, chosen};
use super::layout::{cut, fit, line};
use super::seen::Seen;
use super::table::Sort;

/// These tables in so many letters, each under a line of titles.
pub fn lines(seen: &Seen, tables: &[(Kind, Sort)], filter: &str, width: usize) -> String {
    let mut text = String::new();
    let mut say = |line: &str| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    say(&cut(&seen.server, width));
    figures(seen).iter().for_each(|figures| say(&cut(figures, width)));
    for &(kind, sort) in tables {
        let (columns, rows) = (kind.columns(), chosen(kind, seen, filter, sort));
        let shown = fit(columns, &rows, width);
        say("");
        say(&line(columns, &shown, |column| columns[column].title.to_owned()));
        rows.iter().for_each(|row| say(&line(columns, &shown, |column| row.cells[column].text.clone())));
    }
    text
}
