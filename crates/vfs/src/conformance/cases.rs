//! How a topic lists its cases.

/// The cases of a topic: each claims what its function is called, and needs what stands behind it.
macro_rules! cases {
    ($topic:literal: $($check:ident $([$($need:ident),*])?,)*) => {
        pub(super) const CASES: &[$crate::conformance::case::Case] = &[$($crate::conformance::case::Case {
            topic: $topic,
            name: stringify!($check),
            needs: &[$($($crate::conformance::case::CaseNeed::$need),*)?],
            check: $check,
        }),*];
    };
}
pub(super) use cases;
