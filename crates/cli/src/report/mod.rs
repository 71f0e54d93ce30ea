//! What people get to read: pure functions from facts to text, and the one place that prints.

mod attributes;
mod bench;
mod capture;
mod counted;
mod counts;
mod doctor;
mod hosts;
mod knobs;
mod listing;
mod mount_commands;
mod nics;
mod opened;
mod output;
mod replay;
mod settings;
mod squash;
mod state;
mod welcome;
mod why;

pub use attributes::{attributes_json, exact_time, kind_word, mode_letters, short_time};
pub use bench::{bench, progress};
pub use capture::{captured, capturing};
pub use counted::{Counted, counted, exports_since, since};
pub use counts::{client_counts, kernel_counts};
pub use doctor::{doctor, doctor_json};
pub use hosts::{reachable, worth_showing};
pub use knobs::{knob_set, knobs};
pub use listing::{Listed, listing};
pub use nics::{NicRates, Scale, nics, nics_json, nics_plot};
pub use opened::{Handles, OpenedExport};
pub use output::{complain, is_incomplete, is_unread, print, print_raw, status};
pub use settings::{exports, server};
pub use squash::{SQUASH_NOTE, squash_note};
pub use state::state;
pub use welcome::Welcome;
pub use why::why;
