//! Names and paths as text, in messages, listings and logs. Their makers may have meant to upset the terminal, or a name to be
//! taken for another.

use std::fmt::{self, Write};

/// A name or path as text: UTF-8 as it is, but for control characters and those that turn the direction of a line; these, bytes
/// that are no UTF-8, and the backslash itself are escaped with a backslash. So no name looks like the escape of another.
#[derive(Clone, Copy)]
pub struct Shown<'a>(pub &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for letter in chunk.valid().chars() {
                match letter {
                    '\\' => formatter.write_str(r"\\")?,
                    plain if is_harmless(plain) => formatter.write_char(plain)?,
                    other if other.is_ascii() => write!(formatter, "{}", [other as u8].escape_ascii())?,
                    other => write!(formatter, "{}", other.escape_unicode())?,
                }
            }
            write!(formatter, "{}", chunk.invalid().escape_ascii())?;
        }
        Ok(())
    }
}

/// Whether a letter leaves a line of text as it is: no control character (a terminal may obey it), no separator of lines, and
/// none that turns the direction of what follows (Unicode Standard Annex 9).
pub fn is_harmless(letter: char) -> bool {
    let turns = matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    !letter.is_control() && !turns && !matches!(letter, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_upsets_a_terminal_or_passes_for_another() {
        for (name, shown) in [
            ("Ä/b c".as_bytes(), "Ä/b c"),
            (b"a\x1b[2J\n", r"a\x1b[2J\n"),
            (b"gr\xff\xc3\xbcn", "gr\\xffün"),
            (br"a\n", r"a\\n"),
            ("\u{85}".as_bytes(), r"\u{85}"),
            ("gpj.\u{202e}exe".as_bytes(), r"gpj.\u{202e}exe"),
        ] {
            assert_eq!(Shown(name).to_string(), shown);
        }
    }
}
