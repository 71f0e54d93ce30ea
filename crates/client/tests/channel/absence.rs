//! Servers that are away for a while, and callers that cannot wait for them.

use std::net::TcpListener;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use howdah_client::channel::{CallError, ChannelOptions, Class, Patience};

use crate::scripted;
use crate::served::{Nothing, null, open, request};

const COMMIT: u32 = 21;
const RENAME: u32 = 14;

fn options(patience: Duration) -> ChannelOptions {
    ChannelOptions { patience: Patience::WhileHeard(patience), ..ChannelOptions::default() }
}

/// Closed: who passes waits until it is opened.
#[derive(Default)]
struct Barrier(Mutex<bool>, Condvar);

impl Barrier {
    fn pass(&self) {
        let is_open = self.0.lock().expect("no panic");
        drop(self.1.wait_while(is_open, |is_open| !*is_open).expect("no panic"));
    }

    fn open(&self) {
        *self.0.lock().expect("no panic") = true;
        self.1.notify_all();
    }
}

#[test]
fn what_may_have_run_is_waited_for_and_all_else_is_refused_while_the_server_is_away() {
    let barrier = Arc::new(Barrier::default());
    let (its, (tell, receiver)) = (Arc::clone(&barrier), mpsc::channel());
    let address = scripted::start(move |_, mut guest| {
        loop {
            let came = guest.call()?;
            // Type, version of RPC, program and its version come first.
            tell.send(came.message[19]).expect("the test listens");
            its.pass();
            guest.answer(&came, &[])?;
        }
    });
    let channel = open(address, options(Duration::from_millis(500)));
    let renames = || channel.start(request(RENAME, &Nothing, Class::Change));
    let sent = renames();
    assert_eq!(receiver.recv().map(u32::from), Ok(RENAME));
    assert!(matches!(null(&channel), Err(CallError::Away)));
    assert!(!sent.is_done(), "it may have run");
    assert!(matches!(renames().wait(), Err(CallError::Away)), "it was not sent");
    assert!(matches!(null(&channel), Err(CallError::Away)));
    barrier.open();
    sent.wait().expect("an answer to what was sent");
    // On a loaded machine an answer may take longer than the patience.
    assert!((0..200).any(|_| null(&channel).is_ok()), "the server is back");
    assert!((0..200).any(|_| renames().wait().is_ok()));
    let ran = receiver.try_iter().filter(|procedure| u32::from(*procedure) == RENAME).count();
    assert!(ran >= 1, "{ran}");
    assert_eq!(channel.report().lanes[0].connections, 1);
}

#[test]
fn calls_are_refused_while_nobody_can_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    let channel = open(address, options(Duration::from_millis(200)));
    drop(listener);
    assert!(matches!(null(&channel), Err(CallError::Away)));
    // The connection is known to be broken by now.
    assert!(matches!(channel.call(request(RENAME, &Nothing, Class::Change)), Err(CallError::Away)));
}

#[test]
fn a_server_that_is_slow_and_says_that_it_is_there_is_waited_for() {
    let address = scripted::start(|_, mut guest| {
        let slow = guest.call()?;
        // Each question comes after half the patience.
        for _ in 0..3 {
            let asked = guest.call()?;
            guest.answer(&asked, &[])?;
        }
        guest.answer(&slow, &[])?;
        guest.answer_all()
    });
    let channel = open(address, options(Duration::from_secs(4)));
    let answer = channel.call(request(COMMIT, &Nothing, Class::Commit)).expect("an answer");
    assert!(!answer.sent_more_than_once);
}
