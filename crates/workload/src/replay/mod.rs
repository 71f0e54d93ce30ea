//! Plays a record of calls (`docs/protocols/capture.md`) on any file system: [`Recording`] reads it, `story` finds what must be
//! there before it begins and which call waits for which, `layout` makes that, `player` plays, [`ReplayReport`] reports.

mod call;
mod groups;
mod layout;
mod made;
mod player;
mod recording;
mod report;
mod state;
mod story;
mod tally;
mod world;

pub use player::{Replay, Speed, replay};
pub use recording::Recording;
pub use report::{LaidOut, ProcedureReplayed, ReplayReport};
