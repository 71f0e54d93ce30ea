//! A figure that was measured several times.

use serde::{Deserialize, Serialize};

/// The median, with the least and the most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The middle one, or the mean of the two middle ones.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of these values; none of none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Some(Self { median, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_the_median() {
        let check = |values: &[f64], wanted: Option<(f64, f64, f64)>| {
            let found = Spread::of(values.iter().copied());
            assert_eq!(found.map(|spread| (spread.median, spread.min, spread.max)), wanted, "{values:?}");
        };
        check(&[], None);
        check(&[3.0], Some((3.0, 3.0, 3.0)));
        check(&[5.0, 1.0, 2.0], Some((2.0, 1.0, 5.0)));
        check(&[4.0, 1.0, 2.0, 9.0], Some((3.0, 1.0, 9.0)));
    }
}
