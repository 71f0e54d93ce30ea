//! What a cell measured over its repetitions: medians, with the least and the most.

use std::collections::{BTreeMap, BTreeSet};

use super::{Outcome, Row};
use howdah_workload::measure::{OtherLoad, Spread};

/// A cell over all its repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct CellMedians {
    /// Its number.
    pub cell: u32,
    /// The level of each factor.
    pub factors: BTreeMap<String, String>,
    /// How many repetitions came to their end.
    pub ok: usize,
    /// Why the others did not.
    pub failures: Vec<String>,
    /// Each figure over the repetitions that did, with its unit.
    pub figures: BTreeMap<String, (Spread, String)>,
    /// The most that others took of the CPUs in a repetition that counts, if it puts its figures in doubt.
    pub disturbed: Option<OtherLoad>,
    /// As in the rows.
    pub line_rate_bytes_per_second: Option<f64>,
    /// As in the rows.
    pub round_trip_seconds: f64,
}

/// One row for each repetition of each cell, in the order of their numbers; of one that was measured twice the later.
pub fn latest(rows: &[Row]) -> Vec<&Row> {
    let numbered = rows.iter().map(|row| ((row.cell, row.repetition), row));
    numbered.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// All cells, in the order of their numbers. Where a repetition was measured twice, the later row counts.
pub fn medians(rows: &[Row]) -> Vec<CellMedians> {
    let mut cells: BTreeMap<u32, Vec<&Row>> = BTreeMap::new();
    for row in latest(rows) {
        cells.entry(row.cell).or_default().push(row);
    }
    cells.into_values().map(|rows| of_cell(&rows)).collect()
}

fn of_cell(rows: &[&Row]) -> CellMedians {
    let ok: Vec<&Row> = rows.iter().copied().filter(|row| row.is_ok()).collect();
    let names: BTreeSet<&String> = ok.iter().flat_map(|row| row.figures.keys()).collect();
    let figure = |name: &String| {
        let values = ok.iter().filter_map(|row| row.figures.get(name));
        let unit = values.clone().next()?.unit.clone();
        Some((name.clone(), (Spread::of(values.map(|figure| figure.value))?, unit)))
    };
    let failure = |row: &&Row| match &row.outcome {
        Outcome::Ok => None,
        Outcome::Failed(why) => Some(why.clone()),
    };
    CellMedians {
        cell: rows[0].cell,
        factors: rows[0].factors.clone(),
        ok: ok.len(),
        failures: rows.iter().filter_map(failure).collect(),
        figures: names.into_iter().filter_map(figure).collect(),
        disturbed: ok
            .iter()
            .filter_map(|row| row.disturbed())
            .max_by(|one, other| one.share.total_cmp(&other.share)),
        line_rate_bytes_per_second: rows[0].line_rate_bytes_per_second,
        round_trip_seconds: rows[0].round_trip_seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::super::{RowFigure, unit};
    use super::*;

    fn measured(cell: u32, repetition: u32, throughput: f64) -> Row {
        let figure = RowFigure::new(throughput, unit::BYTES_PER_SECOND);
        Row { figures: [("throughput".to_owned(), figure)].into(), ..row(cell, repetition) }
    }

    #[test]
    fn a_cell_is_marked_by_the_repetition_in_which_others_took_most() {
        let with = |repetition, share| Row {
            other_load: Some(OtherLoad { seconds: 1.0, share }),
            ..measured(1, repetition, 10.0)
        };
        let disturbed = |rows: &[Row]| medians(rows)[0].disturbed.map(|load| load.share);
        assert_eq!(disturbed(&[with(1, 0.2), with(2, 0.4), with(3, 0.05)]), Some(0.4));
        assert_eq!(disturbed(&[with(1, 0.2), with(1, 0.05)]), None, "it was measured again");
        assert_eq!(disturbed(&[Row { other_load: None, ..with(1, 0.0) }]), None);
    }

    #[test]
    fn failures_are_kept_apart_and_the_later_row_counts() {
        let failed =
            |repetition| Row { outcome: Outcome::Failed("server: ended".into()), ..row(1, repetition) };
        let rows = [measured(1, 1, 10.0), failed(2), failed(3), measured(1, 3, 30.0), measured(2, 1, 5.0)];
        let cells = medians(&rows);
        assert_eq!(cells.iter().map(|cell| cell.cell).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(cells[0].disturbed, None);
        assert_eq!((cells[0].ok, cells[0].failures.len()), (2, 1));
        let (spread, unit) = &cells[0].figures["throughput"];
        assert_eq!((spread.median, spread.min, spread.max, unit.as_str()), (20.0, 10.0, 30.0, "bytes/s"));
    }
}
