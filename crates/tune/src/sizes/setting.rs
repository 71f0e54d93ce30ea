//! What somebody set by hand: a size or a name, or nothing.

use std::fmt;

/// What may be set; a size unless said otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Setting<T = u64> {
    /// Sized to the path. Also what `0` means, as in the patch of 2008.
    #[default]
    Auto,
    /// That, so many bytes for one, whatever the path.
    Fixed(T),
}

/// A size that is too small to work with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BelowFloor {
    /// What was asked for.
    pub asked: u64,
    /// The least that is taken.
    pub floor: u64,
    /// How the floor is computed.
    pub formula: String,
}

impl fmt::Display for BelowFloor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, floor, formula } = self;
        write!(
            f,
            "{asked} bytes are less than the floor of {floor} bytes ({formula}); 0 sizes it automatically"
        )
    }
}

impl std::error::Error for BelowFloor {}

impl Setting {
    /// What was asked for; 0 is automatic, and what is below the floor is refused.
    pub fn checked(asked: u64, floor: u64, formula: &str) -> Result<Self, BelowFloor> {
        match asked {
            0 => Ok(Self::Auto),
            asked if asked < floor => Err(BelowFloor { asked, floor, formula: formula.to_owned() }),
            asked => Ok(Self::Fixed(asked)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_automatic_and_less_than_the_floor_is_refused() {
        let formula = "2 calls of 1 MiB";
        assert_eq!(Setting::checked(0, 100, formula), Ok(Setting::Auto));
        assert_eq!(Setting::checked(100, 100, formula), Ok(Setting::Fixed(100)));
        let refused = Setting::checked(99, 100, formula).expect_err("it is below the floor");
        assert_eq!(
            refused.to_string(),
            "99 bytes are less than the floor of 100 bytes (2 calls of 1 MiB); 0 sizes it automatically"
        );
    }
}
