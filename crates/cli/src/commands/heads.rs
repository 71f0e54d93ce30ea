//! `howdah heads`.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use howdah_server::states::{SeenHead, seen_heads};

use super::Failure;
use crate::arguments::HeadsArguments;
use crate::report::{self, HeadState};

/// A head that says nothing for so long is down: it says each second that it lives.
const SILENCE: Duration = Duration::from_secs(4);
/// How often the records are read meanwhile.
const LOOK: Duration = Duration::from_millis(200);

/// Shows all heads as one.
pub fn run(arguments: &HeadsArguments) -> Result<(), Failure> {
    let heads = look(&arguments.records, SILENCE).map_err(Failure::Runtime)?;
    let text = if arguments.json { report::heads_json(&heads) } else { report::heads(&heads) };
    report::print(&text);
    if heads.iter().any(|(state, _)| *state == HeadState::Down) { Err(Failure::Told) } else { Ok(()) }
}

/// Reads the records until each head that runs has shown that it lives, or is silent for too long.
fn look(records: &Path, silence: Duration) -> Result<Vec<(HeadState, SeenHead)>> {
    let read =
        || seen_heads(records).with_context(|| format!("reading records of heads in {}", records.display()));
    let (first, give_up) = (read()?, Instant::now() + silence);
    loop {
        let now = read()?;
        let states = now.into_iter().map(|head| {
            let before = first.iter().find(|before| before.head == head.head);
            let state = match (&head.beat, before.and_then(|before| before.beat.as_ref())) {
                (None, _) => HeadState::Stopped,
                (Some(beat), Some(before)) if beat == before => HeadState::Down,
                _ => HeadState::Up,
            };
            (state, head)
        });
        let states: Vec<_> = states.collect();
        if Instant::now() >= give_up || states.iter().all(|(state, _)| *state != HeadState::Down) {
            return Ok(states);
        }
        sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_head_that_is_silent_is_down_and_one_that_was_stopped_is_not() {
        let home = tempfile::tempdir().expect("a directory");
        assert!(look(home.path(), Duration::ZERO).is_err());
        fs::create_dir(home.path().join("addresses")).expect("made");
        for head in ["1", "2"] {
            fs::create_dir_all(home.path().join("heads").join(head)).expect("made");
        }
        fs::write(home.path().join("heads/1/running"), "host 1 1 7").expect("written");
        let states = |silence| -> Vec<HeadState> {
            look(home.path(), silence).expect("read").into_iter().map(|(state, _)| state).collect()
        };
        assert_eq!(states(Duration::ZERO), [HeadState::Down, HeadState::Stopped]);
        let beats = std::sync::atomic::AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for beat in 8_u64.. {
                    let new = home.path().join("heads/1/new");
                    fs::write(&new, format!("host 1 1 {beat}")).expect("written");
                    fs::rename(new, home.path().join("heads/1/running")).expect("renamed");
                    if !beats.load(std::sync::atomic::Ordering::SeqCst) {
                        break;
                    }
                }
            });
            assert_eq!(states(Duration::from_secs(600)), [HeadState::Up, HeadState::Stopped]);
            beats.store(false, std::sync::atomic::Ordering::SeqCst);
        });
    }
}
