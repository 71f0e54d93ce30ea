//! What the task runner shares with the errands that it starts.

pub mod clock;
