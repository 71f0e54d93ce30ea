//! Which cells belong to one line: those that have all levels in common but that of the factor along the axis. So no
//! line ever mixes what differs in a factor that the figure does not name.

use super::super::results::Results;
use crate::plan::FigureSpec;
use crate::record::CellMedians;

/// The cells of one line, and what it is called.
pub struct CellGroup<'a> {
    /// The levels in which it differs from the other lines.
    pub name: String,
    /// Its cells.
    pub cells: Vec<&'a CellMedians>,
}

/// The cells that a figure is about, in lines, in the plan's order.
pub fn groups<'a>(results: &'a Results, spec: &'a FigureSpec) -> Vec<CellGroup<'a>> {
    let cells: Vec<&CellMedians> = results.cells_with(&spec.cells).collect();
    let mut factors = results.differing(&cells);
    factors.retain(|factor| spec.x.as_ref() != Some(factor));
    factors.sort_by_key(|factor| spec.by.as_ref() != Some(factor));
    let mut groups: Vec<(Vec<usize>, CellGroup)> = Vec::new();
    for cell in cells {
        let levels: Vec<&str> =
            factors.iter().map(|factor| cell.factors.get(factor).map_or("", String::as_str)).collect();
        let name = levels.join(" · ");
        match groups.iter_mut().find(|(_, group)| group.name == name) {
            Some((_, group)) => group.cells.push(cell),
            None => groups.push((order(results, &factors, &levels), CellGroup { name, cells: vec![cell] })),
        }
    }
    groups.sort_by(|(one, _), (other, _)| one.cmp(other));
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Where levels stand in the plan.
fn order(results: &Results, factors: &[String], levels: &[&str]) -> Vec<usize> {
    let place = |(factor, level): (&String, &&str)| {
        results
            .plan
            .factor(factor)
            .and_then(|factor| factor.labels().position(|label| label == *level))
            .unwrap_or(0)
    };
    factors.iter().zip(levels).map(place).collect()
}
