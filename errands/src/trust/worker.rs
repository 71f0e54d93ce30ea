//! A worker: calls that follow from a seed, each judged by its answer.

use std::iter;
use std::sync::Arc;

use howdah_vfs::{Caller, FileSystem, FsError};

use super::calls::{Calls, Told};
use super::territory::{Event, Territory};
use super::world::{Act, Answered, Extent, Kind, choose, named};
use howdah_random::Random;

/// Of its calls, so many change something for one that looks.
const LOOK_ONE_IN: u64 = 6;

/// Gives when a call was sent and answered, for campaigns that ask.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A worker.
pub struct Worker {
    calls: Calls,
    territory: Arc<Territory>,
    random: Random,
    /// The verifier that writes were answered with, until another comes.
    verifier: Option<[u8; 8]>,
    /// For the history, if one is kept.
    clock: Option<Clock>,
    /// How its calls may be answered.
    answers: Answers,
    /// How much it makes.
    extent: Extent,
}

/// How calls may be answered that were sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// By a server that may have been killed meanwhile, and remembers nothing then.
    Forgotten,
    /// By one that remembers: a call that went well is never refused.
    Remembered,
    /// The same, on a path where any call may be sent twice without anybody's doing.
    AnyRepeated,
    /// Both: any call may be sent twice, and answered by a server that remembers nothing.
    AnyForgotten,
}

impl Answers {
    /// Any call may be sent twice, though nobody says so.
    fn any(self) -> bool {
        matches!(self, Self::AnyRepeated | Self::AnyForgotten)
    }

    /// What went well may be refused when it is sent again.
    fn forgotten(self) -> bool {
        matches!(self, Self::Forgotten | Self::AnyForgotten)
    }
}

/// What an answer is to the model.
enum Judged {
    /// The call was carried out.
    Done(Told),
    /// It was refused, as it had to be.
    Refused,
    /// It was sent twice, and answered as only a second run is: the caller knows what is there, and not who did it.
    Twice(Option<Told>),
}

impl Worker {
    /// One for a territory, on this client.
    ///
    /// # Errors
    /// What the lookup of the territory is refused with.
    pub fn new(
        fs: Arc<dyn FileSystem>,
        caller: Caller,
        territory: Arc<Territory>,
        random: Random,
    ) -> Result<Self, FsError> {
        let calls = Calls::new(fs, caller, Arc::clone(&territory))?;
        let (answers, extent) = (Answers::Forgotten, Extent::WIDE);
        Ok(Self { calls, territory, random, verifier: None, clock: None, answers, extent })
    }

    /// The name of its territory.
    pub fn place(&self) -> &str {
        &self.territory.name
    }

    /// Keeps the history by this clock.
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Its server remembers answers, or does not.
    pub fn answered(self, answers: Answers) -> Self {
        Self { answers, ..self }
    }

    /// Makes no more than this.
    pub fn within(self, extent: Extent) -> Self {
        Self { extent, ..self }
    }

    /// One call, made and judged; else what is wrong with its answer.
    pub fn step(&mut self) -> Result<(), String> {
        if self.random.one_in(LOOK_ONE_IN) {
            return self.look();
        }
        let (act, verdict) = self.begin();
        let outcome = self.calls.make(&act);
        let answered = self.clock.as_ref().map(|clock| clock());
        let judged = self.judge(&act, verdict, outcome);
        self.end(act, judged, answered)
    }

    fn begin(&mut self) -> (Act, Result<(), FsError>) {
        let sent = self.clock.as_ref().map_or(0, |clock| clock());
        let mut state = self.territory.state();
        let act = choose(&state.world, self.extent, &mut self.random);
        let verdict = state.world.verdict(&act).expect("only such calls are chosen");
        (state.pending, state.disturbed) = (Some((act.clone(), sent)), state.is_troubled);
        (act, verdict)
    }

    fn judge(
        &self,
        act: &Act,
        verdict: Result<(), FsError>,
        outcome: Result<Told, FsError>,
    ) -> Result<Judged, String> {
        let disturbed = self.territory.state().disturbed || self.answers.any();
        match (verdict, outcome) {
            (Ok(()), Ok(answer)) => Ok(Judged::Done(answer)),
            (Err(wanted), Err(seen)) if wanted == seen => Ok(Judged::Refused),
            // The first run made it, the second was refused. In a territory nobody else makes anything.
            (Ok(()), Err(FsError::Exists)) if disturbed && self.answers.forgotten() && makes(act) => {
                let handle = self
                    .calls
                    .find(act)
                    .map_err(|error| format!("{}: looking again: {error}", named(act)))?;
                Ok(Judged::Twice(Some(Told::Made(handle))))
            }
            // It was not there before either: it is gone, which is what was wanted.
            (Err(FsError::NotFound), Ok(_)) if disturbed && takes_away(act) => Ok(Judged::Twice(None)),
            // What was there before looks as if just made; or it is a name of that very file already.
            (Err(FsError::Exists), Ok(_)) if disturbed && (makes(act) || matches!(act, Act::Link { .. })) => {
                Ok(Judged::Twice(None))
            }
            (wanted, seen) => {
                let (place, seen) = (&self.territory.name, seen.map(drop));
                let how = if disturbed { ", though it may have been sent twice" } else { "" };
                Err(format!("{place}: {}: answered {seen:?} instead of {wanted:?}{how}", named(act)))
            }
        }
    }

    fn end(&mut self, act: Act, judged: Result<Judged, String>, answered: Option<u64>) -> Result<(), String> {
        let territory = Arc::clone(&self.territory);
        let mut state = territory.state();
        let judged = judged?;
        let sent = state.pending.take().map_or(0, |(_, sent)| sent);
        state.answered += 1;
        state.second_answers += u64::from(matches!(judged, Judged::Twice(_)));
        let (Judged::Done(answer) | Judged::Twice(Some(answer))) = judged else { return Ok(()) };
        self.note_verifier(&answer, &act)?;
        let act = as_answered(act, &answer);
        if let (Some(id), Told::Made(handle)) = (state.world.apply(&act, Answered::Yes), &answer) {
            self.calls.keep(id, *handle);
        }
        if matches!(act, Act::Remove { .. } | Act::RemoveDirectory { .. } | Act::Rename { .. }) {
            self.calls.forget(|id| state.world.holds(id));
        }
        if let Some(answered) = answered {
            state.history.push(Event { act, sent, answered });
        }
        Ok(())
    }

    /// A verifier that changes says that data may be lost; in no campaign of workers it may be.
    fn note_verifier(&mut self, answer: &Told, act: &Act) -> Result<(), String> {
        let (Told::Written(_, _, verifier) | Told::Committed(verifier)) = answer else { return Ok(()) };
        let before = self.verifier.replace(*verifier);
        if before.is_some_and(|before| before != *verifier) {
            return Err(format!(
                "{}: {}: another write verifier, as if data was lost",
                self.territory.name,
                named(act)
            ));
        }
        Ok(())
    }

    /// Reads a file or lists a directory, and compares with what is known.
    fn look(&mut self) -> Result<(), String> {
        let (path, file) = {
            let state = self.territory.state();
            let below = state.world.names().filter_map(|(path, node)| match &node.kind {
                Kind::File(content) => Some((path.to_owned(), Some(Arc::clone(content)))),
                Kind::Directory => Some((path.to_owned(), None)),
                _ => None,
            });
            let known: Vec<_> = iter::once((String::new(), None)).chain(below).collect();
            known[self.random.index(known.len())].clone()
        };
        let wrong = |what: String| format!("{}/{path}: {what}", self.territory.name);
        match file {
            Some(content) => {
                let read = self
                    .calls
                    .read(&path, content.latest().len() + 1)
                    .map_err(|error| wrong(format!("READ: {error}")))?;
                if read == content.latest() {
                    Ok(())
                } else {
                    Err(wrong("READ gives other bytes".to_owned()))
                }
            }
            None => {
                let mut listed =
                    self.calls.list(&path).map_err(|error| wrong(format!("listing: {error}")))?;
                let mut known: Vec<String> =
                    self.territory.state().world.entries(&path).map(str::to_owned).collect();
                listed.sort();
                known.sort();
                if listed == known {
                    Ok(())
                } else {
                    Err(wrong(format!("lists {listed:?} instead of {known:?}")))
                }
            }
        }?;
        self.territory.state().answered += 1;
        Ok(())
    }
}

/// What was written counts, as durable as was answered.
fn as_answered(act: Act, answer: &Told) -> Act {
    match (answer, act) {
        (Told::Written(count, stability, _), Act::Write { path, at, bytes, .. }) => {
            Act::Write { path, at, bytes: bytes.slice(..*count), stability: *stability }
        }
        (_, act) => act,
    }
}

/// Whether a call makes a node of its own.
fn makes(act: &Act) -> bool {
    matches!(
        act,
        Act::Create { .. } | Act::MakeDirectory { .. } | Act::MakeLink { .. } | Act::MakePipe { .. }
    )
}

/// Whether a call takes a name away.
fn takes_away(act: &Act) -> bool {
    matches!(act, Act::Remove { .. } | Act::RemoveDirectory { .. } | Act::Rename { .. })
}
