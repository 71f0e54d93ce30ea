//! Why the value of an option is not taken.

/// Why a value is not taken.
pub(super) enum Refusal {
    /// It is not one that the option takes.
    Value,
    /// It is, but what it asks for is not done here.
    Unsupported(&'static str),
}
