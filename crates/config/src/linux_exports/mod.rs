//! From a Linux `/etc/exports` (exports(5)) to a configuration of howdah. Pure: text in, text and warnings out.

mod client;
mod convert;
mod entries;
mod options;
mod rules;
mod warning;
mod write;

pub use convert::convert;
pub use warning::Warning;
