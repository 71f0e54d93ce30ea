//! The sizes of one connection: what to set on the socket, and when.

mod algorithm;
mod change;
mod offer;
mod parse;
mod rate;
mod send;
mod setting;
mod start;
mod window;

pub use algorithm::Algorithm;
pub use change::SizeChange;
pub use offer::first_window;
pub use parse::parse_size;
pub use rate::{parse_bit_rate, parse_byte_rate};
pub use send::{SEND_LEAST, SEND_MAX, SEND_MIN, SendSizes, Share, UNSENT_MAX, UNSENT_MIN};
pub use setting::{BelowFloor, Setting};
pub use start::Start;
pub use window::{WINDOW_MIN, Window, WindowRoom};
