//! Which columns a table has in so many letters, how wide each is, and a line of it.

use howdah_vfs::is_harmless;

use super::table::{Column, Row};

/// Letters between two columns.
const GAP: usize = 1;
/// The part of the width that names may take while other columns want room.
const NAME_PART: usize = 3;
/// Stands for what did not fit.
const CUT: &str = "..";

/// A column that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownRows {
    /// Which.
    pub column: usize,
    /// Its letters.
    pub width: usize,
}

/// The columns that fit, in their order. The first is always there.
pub fn fit(columns: &[Column], rows: &[Row], width: usize) -> Vec<ShownRows> {
    let longest = |column: usize| {
        let cells = rows.iter().map(|row| letters(&row.cells[column].text));
        cells.max().unwrap_or_default().max(columns[column].title.len())
    };
    let name = longest(0).min((width / NAME_PART).max(columns[0].width.into())).min(width);
    let mut shown = vec![ShownRows { column: 0, width: name }];
    let mut left = width - name;
    let mut others: Vec<usize> = (1..columns.len()).collect();
    others.sort_by_key(|&column| columns[column].rank);
    for column in others {
        let wanted = usize::from(columns[column].width);
        if let Some(rest) = left.checked_sub(GAP + wanted) {
            shown.push(ShownRows { column, width: wanted });
            left = rest;
        }
    }
    shown.sort_by_key(|shown| shown.column);
    for shown in shown.iter_mut().filter(|shown| columns[shown.column].stretches) {
        let more = longest(shown.column).saturating_sub(shown.width).min(left);
        shown.width += more;
        left -= more;
    }
    shown
}

/// What stands in those columns: text to the left, figures to the right.
pub fn line(columns: &[Column], shown: &[ShownRows], text: impl Fn(usize) -> String) -> String {
    let cells = shown.iter().map(|shown| aligned(&columns[shown.column], shown.width, &text(shown.column)));
    cells.collect::<Vec<_>>().join(" ")
}

/// A cell in just so many letters.
pub fn aligned(column: &Column, width: usize, text: &str) -> String {
    let text = cut(text, width);
    let blank = " ".repeat(width - letters(&text));
    if column.is_text { text + &blank } else { blank + &text }
}

/// A text in at most so many letters.
pub fn cut(text: &str, width: usize) -> String {
    let text: String = text.chars().map(|letter| if !is_harmless(letter) { '?' } else { letter }).collect();
    if letters(&text) <= width {
        return text;
    }
    let mut kept: String = text.chars().take(width.saturating_sub(CUT.len())).collect();
    while letters(&kept) + CUT.len() > width && kept.pop().is_some() {}
    kept.push_str(&CUT[..CUT.len().min(width)]);
    while letters(&kept) > width && kept.pop().is_some() {}
    kept
}

/// How wide a text is on a terminal.
fn letters(text: &str) -> usize {
    ratatui::text::Span::raw(text).width()
}

#[cfg(test)]
mod tests {
    use super::super::kind::Kind;
    use super::super::table::TableCell;
    use super::*;

    fn row(kind: Kind, name: &str) -> Row {
        let mut cells = vec![TableCell::text("1"); kind.columns().len()];
        cells[0] = TableCell::text(name);
        Row { key: name.to_owned(), cells, about: Vec::new(), is_busy: true }
    }

    #[test]
    fn no_line_is_longer_than_there_is_room_whatever_the_width() {
        for kind in Kind::ALL {
            let rows = [row(kind, "10.0.0.7"), row(kind, "[fd00:1234:5678:9abc:def0:1234:5678:9abc]:1022")];
            for width in 1..300 {
                let shown = fit(kind.columns(), &rows, width);
                assert_eq!(shown[0].column, 0);
                for row in &rows {
                    let line = line(kind.columns(), &shown, |column| row.cells[column].text.clone());
                    assert!(letters(&line) <= width, "{kind:?} {width}: {line:?}");
                }
            }
            let all = fit(kind.columns(), &rows, 300);
            assert_eq!(all.len(), kind.columns().len());
            assert_eq!(all[0].width, rows[1].cells[0].text.len(), "names are whole where there is room");
        }
    }

    #[test]
    fn eighty_columns_have_rate_latency_verdict_buffers_and_window() {
        let titles = |kind: Kind, name: &str| {
            let shown = fit(kind.columns(), &[row(kind, name)], 80);
            shown.iter().map(|shown| kind.columns()[shown.column].title).collect::<Vec<_>>()
        };
        let connection = titles(Kind::Connections, "255.255.255.255:65535");
        for wanted in ["IN/s", "OUT/s", "RTT", "SNDBUF", "RCVBUF", "WINDOW", "LIMITED BY"] {
            assert!(connection.contains(&wanted), "{wanted} in {connection:?}");
        }
        let client = titles(Kind::Clients, "255.255.255.255");
        for wanted in ["CALLS/s", "IN/s", "OUT/s", "RTT", "BUFFER", "LIMITED BY"] {
            assert!(client.contains(&wanted), "{wanted} in {client:?}");
        }
        let export = titles(Kind::Exports, "/srv/data");
        for wanted in ["CALLS/s", "ERR/s", "MEAN", "P99", "STOR", "IN/s", "OUT/s"] {
            assert!(export.contains(&wanted), "{wanted} in {export:?}");
        }
    }

    #[test]
    fn what_is_cut_shows_it_and_nothing_reaches_the_terminal_but_letters() {
        assert_eq!(["abcdef", "abc", "日本語"].map(|text| cut(text, 5)), ["abc..", "abc", "日.."]);
        assert_eq!((cut("abc", 1), cut("abc", 0)), (".".to_owned(), String::new()));
        assert_eq!(cut("a\x1b[2Jb", 9), "a?[2Jb");
    }
}
