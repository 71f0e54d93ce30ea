//! Hides passwords that were typed into a URL: errors end in logs and on screens that others see.

/// The text with `...` in place of the password, if it names a user and a password before its host.
pub fn without_password(text: &str) -> String {
    let start = text.find("://").map_or(0, |at| at + "://".len());
    let end = text[start..].find('/').map_or(text.len(), |at| start + at);
    let authority = &text[start..end];
    let hidden = authority.rfind('@').and_then(|at| Some((authority[..at].find(':')?, at)));
    match hidden {
        Some((colon, at)) => format!("{}:...{}", &text[..start + colon], &text[start + at..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_hidden_and_all_else_stays() {
        for (text, shown) in [
            ("nfs://user:secret@host/a@b", "nfs://user:...@host/a@b"),
            ("nfs://user:se@cret@host", "nfs://user:...@host"),
            ("user:secret@host", "user:...@host"),
            ("nfs://user@host:2049/", "nfs://user@host:2049/"),
            ("nfs://host:2049/a:b@c", "nfs://host:2049/a:b@c"),
            ("[fd00::1]:/x", "[fd00::1]:/x"),
        ] {
            assert_eq!(without_password(text), shown, "{text}");
        }
    }
}
