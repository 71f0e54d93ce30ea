//! Calls that wait to be sent: what was lost first, then small calls before bulk, but not for ever.

use std::collections::VecDeque;

use super::entry::State;
use super::table::{Table, Ticket};

/// So many small calls may pass a bulk call that waits.
const SMALL_IN_A_ROW: u32 = 8;

/// Why a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// It timed out.
    Lost,
    /// It is new and moves no bulk data.
    Small,
    /// It is new and does.
    Bulk,
}

/// The calls that wait. A call that was answered or cancelled meanwhile is found out when its turn comes.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    lost: VecDeque<Ticket>,
    small: VecDeque<Ticket>,
    bulk: VecDeque<Ticket>,
    small_in_a_row: u32,
}

impl Waiting {
    pub(super) fn push(&mut self, line: Line, ticket: Ticket) {
        self.line(line).push_back(ticket);
    }

    /// In which order to look.
    pub(super) fn order(&self) -> [Line; 3] {
        if self.small_in_a_row < SMALL_IN_A_ROW {
            [Line::Lost, Line::Small, Line::Bulk]
        } else {
            [Line::Lost, Line::Bulk, Line::Small]
        }
    }

    /// Who is next in that line.
    pub(super) fn head<C>(&mut self, line: Line, table: &Table<C>) -> Option<usize> {
        let expected = if line == Line::Lost { State::Lost } else { State::Waiting };
        let queue = self.line(line);
        loop {
            let ticket = *queue.front()?;
            if table.of(ticket).is_some_and(|entry| entry.state == expected) {
                return Some(ticket.index);
            }
            queue.pop_front();
        }
    }

    /// The head of that line goes.
    pub(super) fn pop(&mut self, line: Line) {
        self.line(line).pop_front();
        match line {
            Line::Lost => {}
            Line::Small if self.bulk.is_empty() => self.small_in_a_row = 0,
            Line::Small => self.small_in_a_row += 1,
            Line::Bulk => self.small_in_a_row = 0,
        }
    }

    fn line(&mut self, line: Line) -> &mut VecDeque<Ticket> {
        match line {
            Line::Lost => &mut self.lost,
            Line::Small => &mut self.small,
            Line::Bulk => &mut self.bulk,
        }
    }
}
