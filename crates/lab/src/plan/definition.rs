//! A plan, read and checked.

use toml::Table;

use super::quick::Quick;
use super::{Claim, Factor, FigureSpec, LeftOut, OriginFigure, Time};

/// An experiment: what it asks, the cells it consists of, what is drawn and what is concluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Its name, which files are named after.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// The origin whose question it is.
    pub origin: Option<String>,
    /// What it asks, for a reader.
    pub asks: String,
    /// What everything random in it follows from.
    pub seed: u64,
    /// How often each cell is measured.
    pub repetitions: u32,
    /// About how long it takes.
    pub(super) takes: Option<Time>,
    /// What it varies; the last one varies fastest.
    pub factors: Vec<Factor>,
    /// Which cells are not measured, and why.
    pub left_out: Vec<LeftOut>,
    /// The origin's own figures.
    pub origin_figures: Vec<OriginFigure>,
    /// What the report draws.
    pub figures: Vec<FigureSpec>,
    /// What it concludes.
    pub claims: Vec<Claim>,
    /// Its short form.
    pub(super) quick: Quick,
    /// `[cell]`, before factors.
    pub(super) cell: Table,
    /// The file, as it was named, for errors.
    pub(super) file: String,
}

impl Plan {
    /// How often each cell is measured, in the whole or the short form.
    pub fn repetitions(&self, quick: bool) -> u32 {
        if quick { self.quick.repetitions.unwrap_or(self.repetitions) } else { self.repetitions }
    }

    /// About how long it takes on a machine of two processors, in the whole or the short form, if it says.
    pub fn takes(&self, quick: bool) -> Option<Time> {
        if quick { self.quick.takes } else { self.takes }
    }

    /// The factor of that name.
    pub fn factor(&self, name: &str) -> Option<&Factor> {
        self.factors.iter().find(|factor| factor.name == name)
    }
}
