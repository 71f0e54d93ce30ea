//! A table that scrolls by itself where it is too wide, and can be reached with the keyboard then.

use maud::{Markup, html};

/// A table with this name, from its rows of cells; `head` are texts.
pub fn scrolling(name: &str, head: &[String], body: Markup, sortable: bool) -> Markup {
    html! {
        div.scroll role="region" aria-label=(name) tabindex="0" {
            table.sortable[sortable] {
                thead { tr { @for column in head { th scope="col" { (column) } } } }
                tbody { (body) }
            }
        }
    }
}

/// A table of texts; numbers stand to the right.
pub fn plain(name: &str, head: &[String], rows: &[Vec<String>]) -> Markup {
    let body = html! {
        @for row in rows {
            tr { @for (index, cell) in row.iter().enumerate() { td.number[index > 0 && is_number(cell)] { (cell) } } }
        }
    };
    scrolling(name, head, body, false)
}

fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || "−–".contains(first))
}
