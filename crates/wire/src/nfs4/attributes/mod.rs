//! Attributes of nodes and file systems (RFC 8881 5, RFC 7862 12.2, RFC 8276, RFC 9754): one file per group, each with the
//! numbers of its attributes and a structure of their values.

mod all;
mod content;
mod group;
mod identity;
mod limits;
mod locations;
mod numbers;
mod permissions;
mod space;
mod support;
mod times;
mod values;
mod writing;

pub use all::Attributes;
pub use content::*;
pub use identity::*;
pub use limits::*;
pub use locations::{Location, Locations};
pub use numbers::*;
pub use permissions::*;
pub use space::*;
pub use support::*;
pub use times::*;
pub use values::Values;
pub use writing::write;
