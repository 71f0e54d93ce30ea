//! What a copy reports, as lines.

use howdah_copy::{CopyError, Event};
use howdah_vfs::Shown;

use howdah_units::size;

use howdah_daemon::places::spelled;

/// An event of a dry run: what would be.
pub fn dry_line(event: &Event<'_>) -> String {
    match event {
        Event::Copied { path, bytes } => format!("{}: would be copied ({})", shown(path), size(*bytes)),
        Event::Made { path } => format!("{}: would be created", shown(path)),
        Event::Linked { path } => format!("{}: would be linked", shown(path)),
        Event::Removed { path } => format!("{}: would be deleted", shown(path)),
        other => event_line(other),
    }
}

/// An event in a few words.
pub fn event_line(event: &Event<'_>) -> String {
    match event {
        Event::Copied { path, bytes } => format!("{}: copied ({})", shown(path), size(*bytes)),
        Event::Made { path } => format!("{}: created", shown(path)),
        Event::Removed { path } => format!("{}: deleted", shown(path)),
        Event::Linked { path } => format!("{}: linked", shown(path)),
        Event::Kept { path } => format!("{}: unchanged", shown(path)),
        Event::Vanished { path } => format!("{}: gone since it was listed", shown(path)),
        Event::Grown { path, bytes } => {
            format!("{}: it grew while it was copied; the copy has its first {}", shown(path), size(*bytes))
        }
        Event::Resumed { path, bytes, of } => {
            format!("{}: resumed at {} of {}", shown(path), size(*bytes), size(*of))
        }
        Event::StartedOver { path, why } => format!("{}: starting over: {why}", shown(path)),
        Event::SentAgain { path, bytes } => {
            format!("{}: {} sent again, which the server lost when it restarted", shown(path), size(*bytes))
        }
        Event::Note(text) => (*text).to_owned(),
        Event::Failed(error) => {
            CopyError { path: spelled(&error.path).into_owned(), ..(*error).clone() }.to_string()
        }
    }
}

fn shown(path: &[u8]) -> String {
    Shown(&spelled(path)).to_string()
}

#[cfg(test)]
mod tests {
    use howdah_copy::{Cause, On};
    use howdah_vfs::FsError;

    use super::*;

    #[test]
    fn paths_below_urls_can_be_typed_again() {
        let path = b"nfs://host/100%/a?b";
        assert_eq!(event_line(&Event::Made { path }), "nfs://host/100%25/a%3Fb: created");
        let cause = Cause::Refused(FsError::AccessDenied);
        let error = CopyError { step: "read", on: On::Source, path: path.to_vec(), cause, left: None };
        let line = event_line(&Event::Failed(&error));
        assert!(line.contains(" nfs://host/100%25/a%3Fb: "), "{line}");
    }
}
