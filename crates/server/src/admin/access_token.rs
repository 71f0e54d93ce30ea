//! What callers over TCP must send: one token for all of it.

use std::fmt;
use std::hint::black_box;

/// Fewer letters than this can be guessed by trying.
const LENGTH_MIN: usize = 16;
/// More than this is no token but the wrong file.
const LENGTH_MAX: usize = 512;

/// A token of printable letters; never shown where something is logged.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

impl AccessToken {
    /// Reads one, whatever space is around it.
    ///
    /// # Errors
    /// It is too short to be safe, too long, or has letters that no header may have.
    pub fn parse(text: &str) -> Result<Self, String> {
        let token = text.trim();
        if !(LENGTH_MIN..=LENGTH_MAX).contains(&token.len()) {
            return Err(format!(
                "a token has {LENGTH_MIN} to {LENGTH_MAX} letters, this one {}",
                token.len()
            ));
        }
        // What may stand behind `Bearer` (RFC 6750 2.1), and in the fragment of a URL as it is.
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        match token.bytes().all(is_letter) {
            true => Ok(Self(token.to_owned())),
            false => Err("a token has letters, digits and - . _ ~ + / = alone".to_owned()),
        }
    }

    /// Its text, for the one screen that shows it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether that is it. How long it takes does not show how much of it is right.
    pub(super) fn is(&self, said: &str) -> bool {
        let (mine, said) = (self.0.as_bytes(), said.as_bytes());
        let differing = mine.iter().zip(said).fold(0, |sum, (one, two)| black_box(sum | (one ^ two)));
        mine.len() == said.len() && differing == 0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AccessToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_itself_alone_and_not_shown() {
        let token = AccessToken::parse(" 0123456789abcdef\n").expect("a token");
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0123456789abcdeF", "0123456789abcde", "0123456789abcdef0"] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn what_can_be_guessed_or_cannot_be_sent_is_refused() {
        for (wrong, why) in
            [("secret", "this one 6"), (&"x".repeat(600), "this one 600"), ("a token with spaces", "alone")]
        {
            assert!(AccessToken::parse(wrong).is_err_and(|said| said.contains(why)), "{wrong}");
        }
    }
}
