//! The only file that writes to standard output and standard error; the log is apart, and the screen of `howdah top`.

use std::fmt::Display;
use std::io::{self, Write};

/// Prints a text. A reader who went away (a closed pipe) is no failure of ours.
pub fn print(text: &str) {
    print_raw(text.as_bytes());
}

/// Prints bytes.
pub fn print_raw(bytes: &[u8]) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(bytes).and_then(|()| output.flush());
}

/// Says on standard error why a command failed.
pub fn complain(failure: &impl Display) {
    let _ = writeln!(io::stderr().lock(), "{failure}");
}

/// Says on standard error how far something is: a line each time, or over what was said before on a terminal.
pub fn status(text: &str, lines: bool) {
    let mut errors = io::stderr().lock();
    // Carriage return, and ECMA-48's EL: the rest of the line is cleared.
    let _ = if lines { writeln!(errors, "{text}") } else { write!(errors, "\r{text}\x1b[K") };
    let _ = errors.flush();
}
