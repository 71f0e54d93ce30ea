//! Paths in messages: a server may have made up the names, and nothing of them gets to upset a terminal.

/// A path as text, or escaped.
pub(crate) fn shown(path: &[u8]) -> String {
    match str::from_utf8(path) {
        Ok(text) if !text.contains(char::is_control) => text.to_owned(),
        _ => path.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_does_not_upset_a_terminal() {
        assert_eq!(shown("Ä/b c".as_bytes()), "Ä/b c");
        assert_eq!(shown(b"a\x1b[2J\n"), r"a\x1b[2J\n");
        assert_eq!(shown(b"\xff"), r"\xff");
    }
}
