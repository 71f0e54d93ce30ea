//! What is on the screen, and what keys and news do to it. It knows no terminal and no server.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::kind::{Kind, chosen};
use super::seen::Seen;
use super::table::{Row, Sort};

/// Rows that a page key moves.
const PAGE: isize = 10;

/// All of it.
#[derive(Debug, Clone)]
pub struct Screen {
    /// What was seen last; none before the first look.
    pub seen: Option<Seen>,
    /// The table that is shown.
    pub kind: Kind,
    /// The order of each table, by its place in [`Kind::ALL`].
    pub sorts: [Sort; 3],
    /// What rows must hold.
    pub filter: String,
    /// Whether keys are letters of the filter.
    pub is_typing: bool,
    /// The row whose details are shown, by its key; it moves with its row.
    pub selected: Option<String>,
    /// Why nothing new is seen, and since when.
    pub trouble: Option<Trouble>,
    /// Whether news wait.
    pub is_paused: bool,
    /// Whether the keys are explained.
    pub helps: bool,
    /// The time of day of what is seen.
    pub clock: String,
    /// How often it is looked.
    pub interval: Duration,
    /// Whether colours may be used.
    pub has_colour: bool,
}

/// The server does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The time of day at which it did not for the first time.
    pub since: String,
    /// What is wrong.
    pub why: String,
}

/// What a key asks of the owner of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Nothing but to show what has changed.
    Show,
    /// To show it anew, from the first letter.
    Redraw,
    /// To stop for now, as Ctrl-Z does.
    Suspend,
    /// To end.
    End,
}

impl Screen {
    /// Nothing seen yet.
    pub fn new(kind: Kind, filter: &str, interval: Duration, has_colour: bool) -> Self {
        Self {
            seen: None,
            kind,
            sorts: Kind::ALL.map(Kind::usual_sort),
            filter: filter.to_owned(),
            is_typing: false,
            selected: None,
            trouble: None,
            is_paused: false,
            helps: false,
            clock: String::new(),
            interval,
            has_colour,
        }
    }

    /// The order of the table that is shown.
    pub fn sort(&self) -> Sort {
        self.sorts[self.kind as usize]
    }

    /// Sorts the table that is shown.
    pub fn set_sort(&mut self, sort: Sort) {
        self.sorts[self.kind as usize] = sort;
    }

    /// The rows that are shown, and which of them is selected.
    pub fn rows(&self) -> (Vec<Row>, usize) {
        let Some(seen) = &self.seen else { return (Vec::new(), 0) };
        let rows = chosen(self.kind, seen, &self.filter, self.sort());
        let selected = self.selected.as_deref();
        let at = rows.iter().position(|row| Some(row.key.as_str()) == selected).unwrap_or_default();
        (rows, at)
    }

    /// The server answered.
    pub fn on_seen(&mut self, seen: Seen, clock: String) {
        self.trouble = None;
        if !self.is_paused {
            (self.seen, self.clock) = (Some(seen), clock);
        }
    }

    /// It did not.
    pub fn on_trouble(&mut self, why: String, clock: String) {
        let since = self.trouble.take().map_or(clock, |trouble| trouble.since);
        self.trouble = Some(Trouble { since, why });
    }

    /// A key was pressed.
    pub fn on_key(&mut self, key: KeyEvent) -> Wish {
        if key.kind == KeyEventKind::Release {
            return Wish::Show;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Wish::End,
                KeyCode::Char('z') => Wish::Suspend,
                KeyCode::Char('l') => Wish::Redraw,
                _ => Wish::Show,
            };
        }
        if self.is_typing {
            self.type_letter(key.code);
            return Wish::Show;
        }
        if std::mem::take(&mut self.helps) {
            return if key.code == KeyCode::Char('q') { Wish::End } else { Wish::Show };
        }
        match key.code {
            KeyCode::Char('q') => return Wish::End,
            KeyCode::Char('?' | 'h') => self.helps = true,
            KeyCode::Char('p' | ' ') => self.is_paused = !self.is_paused,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('r') => self.reverse(),
            KeyCode::Char('s' | '>') | KeyCode::Right => self.sort_by_next(1),
            KeyCode::Char('S' | '<') | KeyCode::Left => self.sort_by_next(-1),
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Enter => self.open(),
            code => self.go(code),
        }
        Wish::Show
    }

    fn type_letter(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(letter) => self.filter.push(letter),
            _ => {}
        }
    }

    /// To another table, or another row.
    fn go(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char(digit @ '1'..='3') => self.show(Kind::ALL[digit as usize - '1' as usize]),
            KeyCode::Tab => self.show(Kind::ALL[(self.kind as usize + 1) % Kind::ALL.len()]),
            KeyCode::BackTab => self.show(Kind::ALL[(self.kind as usize + 2) % Kind::ALL.len()]),
            KeyCode::Up | KeyCode::Char('k') => self.select(-1),
            KeyCode::Down | KeyCode::Char('j') => self.select(1),
            KeyCode::PageUp => self.select(-PAGE),
            KeyCode::PageDown => self.select(PAGE),
            KeyCode::Home => self.select(isize::MIN),
            KeyCode::End => self.select(isize::MAX),
            _ => {}
        }
    }

    fn show(&mut self, kind: Kind) {
        if kind != self.kind {
            (self.kind, self.selected) = (kind, None);
        }
    }

    fn select(&mut self, by: isize) {
        let (rows, at) = self.rows();
        let to = at.saturating_add_signed(by).min(rows.len().saturating_sub(1));
        self.selected = rows.get(to).map(|row| row.key.clone());
    }

    /// From a client to its connections.
    fn open(&mut self) {
        let (rows, at) = self.rows();
        if let (Kind::Clients, Some(row)) = (self.kind, rows.get(at)) {
            // Up to the port; of a network, up to what differs.
            self.filter = match row.key.trim_end_matches(':') {
                address if address.contains(':') => address.to_owned(),
                address => format!("{address}:"),
            };
            self.show(Kind::Connections);
        }
    }

    fn reverse(&mut self) {
        let sort = self.sort();
        self.set_sort(Sort { is_descending: !sort.is_descending, ..sort });
    }

    fn sort_by_next(&mut self, by: isize) {
        let columns = self.kind.columns();
        let column = (self.sort().column as isize + by).rem_euclid(columns.len() as isize) as usize;
        self.set_sort(Sort { column, is_descending: !columns[column].is_text });
    }
}
