//! Storage that does not answer keeps waiting only the question that asks it.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};
use parking_lot::{Condvar, Mutex};

use crate::ask::{Asked, answer, send};

/// How long a loaded machine may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files whose attributes are not answered while they hang.
#[derive(Default)]
struct Hung {
    inner: MemoryFileSystem,
    /// Whether they hang, and how many calls wait.
    state: Mutex<(bool, usize)>,
    news: Condvar,
}

impl Hung {
    fn hangs(&self, hangs: bool) {
        self.state.lock().0 = hangs;
        self.news.notify_all();
    }
}

impl Layer for Hung {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Attributes {
            let mut state = self.state.lock();
            state.1 += 1;
            self.news.notify_all();
            self.news.wait_while(&mut state, |state| state.0);
            state.1 -= 1;
        }
        run(&self.inner)
    }
}

#[test]
fn a_question_about_locks_on_it_keeps_no_other_question_waiting() {
    let files = Arc::new(Hung::default());
    let asked = Asked::serving(Arc::clone(&files) as _);
    let _lockers = asked.lockers();
    files.hangs(true);
    let mut waits = UnixStream::connect(&asked.socket).expect("it listens");
    send(&mut waits, "GET", "/v1/state", "");
    let waited = files.news.wait_while_for(&mut files.state.lock(), |state| state.1 == 0, PATIENCE);
    assert!(!waited.timed_out(), "the question has not reached the storage");
    let (tell, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| tell.send(asked.get("/v1/workers")));
        let other = receiver.recv_timeout(PATIENCE);
        files.hangs(false);
        other.expect("it does not wait");
    });
    let (status, state) = answer(waits);
    assert_eq!((status, state["locks"].as_array().map(Vec::len)), (200, Some(2)));
}
