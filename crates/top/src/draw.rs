//! From what is on the screen to a buffer of letters: the same screen always gives the same buffer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::head;
use super::help;
use super::kind::Kind;
use super::layout::{ShownRows, aligned, cut, fit};
use super::screen::Screen;
use super::table::{Column, Row};

/// Lines with details of the selected row.
const ABOUT_LINES: u16 = 4;
/// A screen that is lower does without them.
const ABOUT_FROM: u16 = 16;
const KEYS: &str = "q quit  tab table  up/down row  enter open  s r sort  / filter  p pause  ? help";

impl Widget for &Screen {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let mut rest = area;
        for line in head::lines(self, area.width.into()) {
            put(line, &mut rest, buffer);
        }
        if self.helps {
            return help::lines().into_iter().for_each(|line| put(line, &mut rest, buffer));
        }
        put(tabs(self), &mut rest, buffer);
        let footer = last_line(&mut rest);
        Line::styled(prompt(self), faint()).render(footer, buffer);
        let (rows, selected) = self.rows();
        let about = if area.height >= ABOUT_FROM { ABOUT_LINES } else { 0 };
        let table = Rect { height: rest.height.saturating_sub(about), ..rest };
        draw_table(self, &rows, selected, table, buffer);
        if let Some(row) = rows.get(selected).filter(|_| about > 0) {
            let below = Rect { y: table.bottom(), height: about, ..rest };
            let text: Vec<Line> = row.about.iter().map(|line| Line::from(line.as_str())).collect();
            Paragraph::new(text).wrap(Wrap { trim: true }).render(below, buffer);
        }
    }
}

/// A line at the top of what is left, if anything is.
fn put(line: Line<'_>, rest: &mut Rect, buffer: &mut Buffer) {
    if rest.height > 0 {
        line.render(Rect { height: 1, ..*rest }, buffer);
        *rest = Rect { y: rest.y + 1, height: rest.height - 1, ..*rest };
    }
}

/// The last line of what is left.
fn last_line(rest: &mut Rect) -> Rect {
    let height = rest.height.min(1);
    rest.height -= height;
    Rect { y: rest.bottom(), height, ..*rest }
}

/// The tables that there are, the order, and the filter.
fn tabs(screen: &Screen) -> Line<'static> {
    let mut spans = Vec::new();
    for (number, kind) in Kind::ALL.into_iter().enumerate() {
        let count = screen.seen.as_ref().map_or(0, |seen| match kind {
            Kind::Exports => seen.exports.iter().filter(|export| export.is_export).count(),
            Kind::Clients => seen.clients.len(),
            Kind::Connections => seen.connections.len(),
        });
        let is_shown = kind == screen.kind;
        let (open, close) = if is_shown { ("[", "]") } else { (" ", " ") };
        let text = format!("{open}{} {}: {count}{close}", number + 1, kind.name());
        let style = if is_shown { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        spans.push(Span::styled(text, style));
    }
    let sort = screen.sort();
    let way = if sort.is_descending { "down" } else { "up" };
    spans.push(format!("  by {} {way}", screen.kind.columns()[sort.column].title).into());
    if !screen.filter.is_empty() {
        spans.push(format!("  only {:?}", screen.filter).into());
    }
    Line::from(spans)
}

/// The keys, or what is typed.
fn prompt(screen: &Screen) -> String {
    match screen.is_typing {
        true => format!("only rows with: {}_   (enter: done, esc: all rows)", screen.filter),
        false => KEYS.to_owned(),
    }
}

fn draw_table(screen: &Screen, rows: &[Row], selected: usize, area: Rect, buffer: &mut Buffer) {
    let columns = screen.kind.columns();
    let shown = fit(columns, rows, area.width.into());
    let mut rest = area;
    put(titles(columns, &shown, screen.sort().column), &mut rest, buffer);
    if rows.is_empty() {
        put(Line::styled(nothing(screen), faint()), &mut rest, buffer);
    }
    let height = usize::from(rest.height);
    for (at, row) in rows.iter().enumerate().skip(first(rows.len(), selected, height)).take(height) {
        put(table_row(screen, columns, &shown, row, at == selected), &mut rest, buffer);
    }
}

/// The first row that is shown, so that the selected one is, and others on both of its sides.
fn first(rows: usize, selected: usize, height: usize) -> usize {
    selected.saturating_sub(height.saturating_sub(1) * 2 / 3).min(rows.saturating_sub(height))
}

/// Titles; the one that rows are sorted by stands out.
fn titles(columns: &[Column], shown: &[ShownRows], sorted: usize) -> Line<'static> {
    let style = Style::new().add_modifier(Modifier::UNDERLINED);
    let each = shown.iter().flat_map(|shown| {
        let column = &columns[shown.column];
        let bold = if shown.column == sorted { Modifier::BOLD } else { Modifier::empty() };
        let title = aligned(column, shown.width, column.title);
        [Span::styled(title, style.add_modifier(bold)), Span::styled(" ", style)]
    });
    Line::from(each.collect::<Vec<_>>())
}

fn table_row(
    screen: &Screen,
    columns: &[Column],
    shown: &[ShownRows],
    row: &Row,
    is_selected: bool,
) -> Line<'static> {
    let spans = shown.iter().flat_map(|shown| {
        let cell = &row.cells[shown.column];
        let style = match (cell.is_alarming, screen.has_colour) {
            (true, true) => Style::new().fg(Color::Yellow),
            (true, false) => Style::new().add_modifier(Modifier::BOLD),
            (false, _) => Style::new(),
        };
        [Span::styled(aligned(&columns[shown.column], shown.width, &cell.text), style), Span::raw(" ")]
    });
    let style = match (is_selected, row.is_busy) {
        (true, _) => Style::new().add_modifier(Modifier::REVERSED),
        (false, true) => Style::new(),
        (false, false) => faint(),
    };
    Line::from(spans.collect::<Vec<_>>()).style(style)
}

/// Why a table is empty.
fn nothing(screen: &Screen) -> String {
    let text = match &screen.seen {
        None => "no samples yet",
        Some(_) if !screen.filter.is_empty() => "no row matches; esc shows all",
        Some(seen) if seen.mode == "off" => "connections are not measured: the server runs with --no-tuning",
        Some(_) if screen.kind == Kind::Exports => "nothing is exported",
        Some(_) => "no client is connected over TCP",
    };
    cut(text, usize::from(u16::MAX))
}

/// What is there for those who look for it.
fn faint() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}
