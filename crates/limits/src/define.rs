//! The macro that makes constants and their table.

/// Constants that bound what outsiders can push against, and `LIMITS`, the table of them. Each is written as a constant with its
/// documentation, which says what it bounds and why there; behind it stand its unit (`bytes`, `bytes_per_second`, `count` or
/// `time`), what happens beyond it, and the test that goes one past it.
///
/// ```
/// howdah_limits::limits! {
///     /// Entries of a list that nobody clears: more than anybody reads.
///     pub const ENTRIES_MAX: usize = 1024, count;
///     beyond "the oldest is forgotten", tested "some/src/list::forgets_the_oldest";
/// }
/// assert_eq!(LIMITS[0].amount.to_string(), "1,024");
/// ```
#[macro_export]
macro_rules! limits {
    ($(
        $(#[doc = $why:literal])+
        $visibility:vis const $name:ident: $kind:ty = $value:expr, $unit:ident;
        beyond $beyond:literal, tested $test:literal;
    )+) => {
        $(
            $(#[doc = $why])+
            #[doc = ""]
            #[doc = concat!("Beyond it: ", $beyond, ".")]
            $visibility const $name: $kind = $value;
        )+

        /// All limits above.
        pub const LIMITS: &[$crate::Limit] = &[$(
            $crate::Limit {
                name: stringify!($name),
                module: module_path!(),
                amount: $crate::limits!(@$unit $name),
                why: &[$($why),+],
                beyond: $beyond,
                test: $test,
            },
        )+];
    };
    (@bytes $name:ident) => { $crate::Amount::Bytes($name as u64) };
    (@bytes_per_second $name:ident) => { $crate::Amount::BytesPerSecond($name as u64) };
    (@count $name:ident) => { $crate::Amount::Count($name as u64) };
    (@time $name:ident) => { $crate::Amount::Time($name) };
}
