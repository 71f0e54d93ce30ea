//! What a copy reports, as lines.

use howdah_copy::Event;
use howdah_vfs::Shown;

use howdah_units::size;

/// An event of a dry run: what would be.
pub fn dry_line(event: &Event<'_>) -> String {
    match event {
        Event::Copied { path, bytes } => format!("{}: would be copied ({})", Shown(path), size(*bytes)),
        Event::Made { path } => format!("{}: would be created", Shown(path)),
        Event::Linked { path } => format!("{}: would be linked", Shown(path)),
        Event::Removed { path } => format!("{}: would be deleted", Shown(path)),
        other => event_line(other),
    }
}

/// An event in a few words.
pub fn event_line(event: &Event<'_>) -> String {
    match event {
        Event::Copied { path, bytes } => format!("{}: copied ({})", Shown(path), size(*bytes)),
        Event::Made { path } => format!("{}: created", Shown(path)),
        Event::Removed { path } => format!("{}: deleted", Shown(path)),
        Event::Linked { path } => format!("{}: linked", Shown(path)),
        Event::Kept { path } => format!("{}: unchanged", Shown(path)),
        Event::Vanished { path } => format!("{}: gone since it was listed", Shown(path)),
        Event::Grown { path, bytes } => {
            format!("{}: it grew while it was copied; the copy has its first {}", Shown(path), size(*bytes))
        }
        Event::Resumed { path, bytes, of } => {
            format!("{}: resumed at {} of {}", Shown(path), size(*bytes), size(*of))
        }
        Event::StartedOver { path, why } => format!("{}: starting over: {why}", Shown(path)),
        Event::SentAgain { path, bytes } => {
            format!("{}: {} sent again, which the server lost when it restarted", Shown(path), size(*bytes))
        }
        Event::Note(text) => (*text).to_owned(),
        Event::Failed(error) => error.to_string(),
    }
}
