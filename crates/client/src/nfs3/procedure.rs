//! What the channel must know of a procedure.

use crate::channel::{Class, ReplaySafety};

/// A procedure of NFS version 3.
#[derive(Debug, Clone, Copy)]
pub(super) struct Procedure {
    /// Its number.
    pub number: u32,
    /// Its name in the RFC.
    pub name: &'static str,
    /// How long it may take.
    pub class: Class,
    /// Whether it may run twice.
    pub replay: ReplaySafety,
    /// Whether servers may lack its program.
    pub is_optional: bool,
}

impl Procedure {
    /// One that ends the same however often it runs.
    pub const fn idempotent(number: u32, name: &'static str, class: Class) -> Self {
        Self { number, name, class, replay: ReplaySafety::Idempotent, is_optional: false }
    }

    /// One that ends in another way when it runs again.
    pub const fn once(number: u32, name: &'static str) -> Self {
        Self { number, name, class: Class::Change, replay: ReplaySafety::OnceOnly, is_optional: false }
    }

    /// The same of a program that servers may lack: there the call is not supported, and nothing is wrong.
    pub const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}
