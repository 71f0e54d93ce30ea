//! The usual reason why root is refused at a server.

use howdah_copy::SequenceError;
use howdah_vfs::FsError;

/// What to say beside it.
pub const SQUASH_NOTE: &str = "  the server may map root to an unprivileged user (root squash): export with squash = \"none\" (Linux: no_root_squash), \
     or run this as a user who has access";

/// The note, if root was refused by a server.
pub fn squash_note(error: &anyhow::Error, is_root_at_server: bool) -> Option<&'static str> {
    let is_refused = error
        .chain()
        .filter_map(refusal)
        .any(|refusal| matches!(refusal, FsError::AccessDenied | FsError::NotPermitted));
    (is_refused && is_root_at_server).then_some(SQUASH_NOTE)
}

/// What to say beside the refusal to read a directory.
pub fn directory_note(error: &anyhow::Error) -> Option<&'static str> {
    let is_directory = error.chain().filter_map(refusal).any(|refusal| *refusal == FsError::IsDirectory);
    is_directory.then_some("  howdah ls lists it")
}

fn refusal<'e>(cause: &'e (dyn std::error::Error + 'static)) -> Option<&'e FsError> {
    match cause.downcast_ref() {
        Some(SequenceError::Read(_, refusal)) => Some(refusal),
        _ => cause.downcast_ref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_that_a_server_refuses_is_told_why_and_nobody_else() {
        let refused = || anyhow::Error::new(FsError::AccessDenied).context("listing nfs://host/");
        assert_eq!(squash_note(&refused(), true), Some(SQUASH_NOTE));
        assert_eq!(squash_note(&refused(), false), None);
        let reading = SequenceError::Read(0, FsError::NotPermitted);
        assert_eq!(squash_note(&anyhow::Error::new(reading), true), Some(SQUASH_NOTE));
        assert_eq!(squash_note(&anyhow::Error::new(FsError::NotFound), true), None);
    }
}
