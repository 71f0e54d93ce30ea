//! Whether something grows: the slope of Theil and Sen, the median of the slopes between any two points, which a few that stick out
//! do not change.

use howdah_workload::measure::Spread;

/// How much the second coordinate grows for one of the first; none of fewer than two points.
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let pairs = points
        .iter()
        .enumerate()
        .flat_map(|(place, one)| points[place + 1..].iter().map(move |two| (one, two)));
    let slopes =
        pairs.filter(|(one, two)| one.0 != two.0).map(|(one, two)| (two.1 - one.1) / (two.0 - one.0));
    Spread::of(slopes).map(|slopes| slopes.median)
}

/// By how much it grew from the first point to the last, by that slope.
pub fn growth(points: &[(f64, f64)]) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    Some(slope(points)? * (last.0 - first.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_is_seen_and_what_sticks_out_is_not() {
        let points = |value: fn(f64) -> f64| {
            (0..300).map(|at| (f64::from(at), value(f64::from(at)))).collect::<Vec<_>>()
        };
        let noisy = |at: f64| {
            100.0 + (at * 0.7).sin() * 5.0 + if (at as u32).is_multiple_of(10) { 900.0 } else { 0.0 }
        };
        assert!(growth(&points(noisy)).expect("points").abs() < 1.0);
        let leaking = |at: f64| 100.0 + (at * 0.7).sin() * 5.0 + at * 0.1;
        assert!((growth(&points(leaking)).expect("points") - 29.9).abs() < 1.0);
        assert_eq!((growth(&[]), growth(&[(1.0, 2.0)])), (None, None));
    }
}
