//! The only file that writes to standard output and standard error; the log is apart, and the screen of `howdah top`.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether something that was printed did not get to where it was to go.
static IS_INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Whether nobody reads what is printed any more.
static IS_UNREAD: AtomicBool = AtomicBool::new(false);

/// Prints a text. A reader who went away (a closed pipe) is no failure of ours; a full disk is reported, once.
pub fn print(text: &str) {
    print_raw(text.as_bytes());
}

/// Prints bytes.
pub fn print_raw(bytes: &[u8]) {
    let mut output = io::stdout().lock();
    let Err(error) = output.write_all(bytes).and_then(|()| output.flush()) else { return };
    IS_UNREAD.store(true, Ordering::Relaxed);
    if error.kind() != ErrorKind::BrokenPipe && !IS_INCOMPLETE.swap(true, Ordering::Relaxed) {
        complain(&format!("howdah: printing: {error}"));
    }
}

/// Whether what is printed gets nowhere any more: what prints without end may end.
pub fn is_unread() -> bool {
    IS_UNREAD.load(Ordering::Relaxed)
}

/// Whether something that was printed is lost, and that was reported.
pub fn is_incomplete() -> bool {
    IS_INCOMPLETE.load(Ordering::Relaxed)
}

/// Says on standard error why a command failed.
pub fn complain(failure: &impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", howdah_units::plain(&failure.to_string()));
}

/// Says on standard error how far something is: a line each time, or over what was said before on a terminal.
pub fn status(text: &str, lines: bool) {
    let mut errors = io::stderr().lock();
    // Carriage return, and ECMA-48's EL: the rest of the line is cleared.
    let _ = if lines { writeln!(errors, "{text}") } else { write!(errors, "\r{text}\x1b[K") };
    let _ = errors.flush();
}
