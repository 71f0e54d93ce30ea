//! The sizes of one connection: what to tell the socket, and when.

mod change;
mod send;
mod setting;
mod window;

pub use change::Change;
pub use send::{SEND_MAX, SEND_MIN, SendSizes, Share, UNSENT_MAX, UNSENT_MIN};
pub use setting::Setting;
pub use window::{Room, WINDOW_MIN, Window};
