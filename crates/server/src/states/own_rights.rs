//! The server's own rights, for its own files in the middle of a client's call: the thread may act as that client's user, who may not
//! enter the directory of the records.

use std::io;

/// Runs work with the server's own rights on the calling thread, which acts as before again afterwards.
type Run = fn(&mut dyn FnMut()) -> io::Result<()>;

/// How a thread that acts as a client's user gets the server's own rights for a moment.
#[derive(Debug, Clone, Copy)]
pub struct OwnRights(Run);

impl OwnRights {
    /// Threads get them by this function, which runs what it is given, once.
    pub const fn by(run: Run) -> Self {
        Self(run)
    }

    /// Threads have them all the time: no file system of this server acts as its callers.
    pub const fn always() -> Self {
        Self(|work| {
            work();
            Ok(())
        })
    }

    /// Runs work with these rights.
    ///
    /// # Errors
    /// The thread does not get the rights, or does not get rid of them; or those of the work.
    pub fn run<T>(self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let (mut work, mut done) = (Some(work), None);
        (self.0)(&mut || done = work.take().map(|work| work()))?;
        done.unwrap_or_else(|| Err(io::Error::other("the work did not run")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_once_with_the_rights_or_not_at_all() {
        assert_eq!(OwnRights::always().run(|| Ok(7)).expect("it runs"), 7);
        let denied = OwnRights::by(|_| Err(io::ErrorKind::PermissionDenied.into()));
        let outcome = denied.run(|| -> io::Result<()> { panic!("it must not run") });
        assert_eq!(outcome.map_err(|error| error.kind()), Err(io::ErrorKind::PermissionDenied));
        assert!(OwnRights::by(|_| Ok(())).run(|| Ok(())).is_err());
    }
}
