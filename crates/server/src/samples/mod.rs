//! What was seen of each connection in the last two minutes, as one curve each: kept by the thread that sizes connections, read by
//! the admin interface. Workers do nothing for it.

mod all;
mod gathered;
mod point;
mod series;

pub use all::{SPAN, Samples, Taken};
pub use point::Point;
