//! Where the levels of a factor stand along an axis: where their numbers put them if all are numbers of one kind and
//! that leaves room between them, else one after the other.

/// Neighbours have at least this part of the whole axis between them, or their labels would collide.
const LEAST_PART: f64 = 0.07;

/// From so many times on, numbers stand by their logarithms if they can.
const LOGARITHMIC_FROM: f64 = 30.0;

/// A position for each label, ascending or not, as they come.
pub fn positions(labels: &[String]) -> Vec<f64> {
    let in_order = || (0..labels.len()).map(|index| index as f64).collect();
    let Some(linear) = numbers(labels) else { return in_order() };
    let positive = linear.iter().all(|number| *number > 0.0);
    let logarithms: Option<Vec<f64>> = positive.then(|| linear.iter().map(|number| number.log10()).collect());
    let wide =
        linear.first().zip(linear.last()).is_some_and(|(first, last)| last / first >= LOGARITHMIC_FROM);
    let ways = if wide { [logarithms, Some(linear)] } else { [Some(linear), logarithms] };
    ways.into_iter().flatten().find(|numbers| has_room(numbers)).unwrap_or_else(in_order)
}

/// Ascending, three at least, and none too close to the next.
fn has_room(numbers: &[f64]) -> bool {
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return false };
    let least = (last - first) * LEAST_PART;
    numbers.len() > 2 && numbers.windows(2).all(|pair| pair[1] - pair[0] > 0.0 && pair[1] - pair[0] >= least)
}

/// Every label as a number, if they are numbers of one kind.
fn numbers(labels: &[String]) -> Option<Vec<f64>> {
    let read: Vec<(f64, Kind)> = labels.iter().map(|label| number(label)).collect::<Option<_>>()?;
    let (_, kind) = *read.first()?;
    read.iter().all(|(_, other)| *other == kind).then(|| read.into_iter().map(|(number, _)| number).collect())
}

/// What a number is a number of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Time,
    Rate,
    Size,
    Part,
}

/// A number with its unit, as plans write them.
fn number(label: &str) -> Option<(f64, Kind)> {
    let label = label.trim();
    let end =
        label.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(label.len());
    let number: f64 = label[..end].parse().ok()?;
    let (factor, kind) = match label[end..].trim() {
        "" => (1.0, Kind::Plain),
        "%" => (1.0, Kind::Part),
        "ns" => (1e-9, Kind::Time),
        "us" | "µs" => (1e-6, Kind::Time),
        "ms" => (1e-3, Kind::Time),
        "s" => (1.0, Kind::Time),
        "bit" => (1.0, Kind::Rate),
        "Kbit" | "kbit" => (1e3, Kind::Rate),
        "Mbit" => (1e6, Kind::Rate),
        "Gbit" => (1e9, Kind::Rate),
        "B" => (1.0, Kind::Size),
        "K" | "k" | "KiB" | "kB" | "KB" => (1024.0, Kind::Size),
        "M" | "MiB" | "MB" => (1_048_576.0, Kind::Size),
        "G" | "GiB" | "GB" => (1_073_741_824.0, Kind::Size),
        _ => return None,
    };
    Some((number * factor, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_where_they_belong_if_there_is_room() {
        for (labels, wanted) in [
            (vec!["0ms", "100ms", "300ms"], vec![0.0, 0.1, 0.3]),
            (vec!["100Mbit", "1Gbit", "10Gbit"], vec![8.0, 9.0, 10.0]),
            (vec!["1", "2", "4"], vec![1.0, 2.0, 4.0]),
            (vec!["0ms", "0.1ms", "300ms"], vec![0.0, 1.0, 2.0]),
            (vec!["30ms", "10ms", "20ms"], vec![0.0, 1.0, 2.0]),
            (vec!["30ms", "1Gbit", "2"], vec![0.0, 1.0, 2.0]),
            (vec!["fixed", "the kernel's"], vec![0.0, 1.0]),
            (vec!["1M"], vec![0.0]),
            (vec![], vec![]),
        ] {
            let labels: Vec<String> = labels.into_iter().map(str::to_owned).collect();
            let found = positions(&labels);
            let near = found.len() == wanted.len()
                && found.iter().zip(&wanted).all(|(one, other)| (one - other).abs() < 1e-9);
            assert!(near, "{labels:?}: {found:?}");
        }
    }
}
