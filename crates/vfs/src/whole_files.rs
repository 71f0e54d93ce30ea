//! Files that are made whole by one call, because all that belongs in them is known beforehand.

use crate::{Caller, Handle, PutFile, Result};

/// The most bytes of a file that is put whole: one that takes long to send would hold up other calls.
pub const WHOLE_FILE_MAX: usize = 64 << 10;

/// Makes whole files. A layer has this only if it says so itself: what it knows of names and files must be right afterwards.
pub trait WholeFiles: Send + Sync {
    /// Makes a file of no more than [`WHOLE_FILE_MAX`] bytes under its partial name, and renames it once all of it is as it should be. What
    /// has the final name is replaced then, or stays as it is.
    ///
    /// # Errors
    /// Something was refused. A file may have the partial name; the final name leads where it led, or to the complete file. The same by
    /// single calls may succeed, and says what is wrong.
    fn put_file(&self, caller: &Caller, put: PutFile<'_>) -> Result<Handle>;
}
