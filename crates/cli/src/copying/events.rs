//! What a copy tells, as lines.

use howdah_client::copy::Event;

use super::units::size;
use crate::report::printable;

/// An event in a few words.
pub fn event_line(event: &Event<'_>) -> String {
    match event {
        Event::Copied { path, bytes } => format!("{}: copied ({})", printable(path), size(*bytes)),
        Event::Made { path } => format!("{}: made", printable(path)),
        Event::Linked { path } => format!("{}: linked", printable(path)),
        Event::Kept { path } => format!("{}: unchanged", printable(path)),
        Event::Resumed { path, bytes, of } => {
            format!("{}: goes on at {} of {}", printable(path), size(*bytes), size(*of))
        }
        Event::StartedOver { path, why } => format!("{}: starts over: {why}", printable(path)),
        Event::SentAgain { path, bytes } => {
            format!(
                "{}: {} sent again, which the server lost when it restarted",
                printable(path),
                size(*bytes)
            )
        }
        Event::Note(text) => (*text).to_owned(),
        Event::Failed(error) => error.to_string(),
    }
}
