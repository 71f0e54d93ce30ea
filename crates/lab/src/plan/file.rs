//! A plan as it is written, before anything is expanded.

use serde::Deserialize;
use toml::{Spanned, Table, Value};

use super::error::line_of;
use super::level_key::{label, setting};
use super::quick::Quick;
use super::validate::validate;
use super::{CellSpec, Claim, Factor, FigureSpec, LeftOut, Level, OriginFigure, Plan, PlanError, Time};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    name: String,
    title: String,
    #[serde(default)]
    origin: Option<String>,
    asks: String,
    #[serde(default)]
    seed: u64,
    #[serde(default = "once")]
    repetitions: u32,
    #[serde(default)]
    takes: Option<Time>,
    cell: Table,
    #[serde(default)]
    factor: Vec<Spanned<FactorFile>>,
    #[serde(default)]
    leave_out: Vec<LeftOut>,
    #[serde(default)]
    quick: Quick,
    #[serde(default)]
    origin_figure: Vec<OriginFigure>,
    #[serde(default)]
    figure: Vec<FigureSpec>,
    #[serde(default)]
    claim: Vec<Claim>,
}

/// The same with cells typed, for errors that know their line.
#[derive(Debug, Deserialize)]
struct Typed {
    #[allow(dead_code, reason = "only whether it can be read matters")]
    cell: CellSpec,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FactorFile {
    name: String,
    #[serde(default)]
    key: Option<Spanned<String>>,
    #[serde(default)]
    values: Vec<Spanned<Value>>,
    #[serde(default)]
    level: Vec<Spanned<LevelFile>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFile {
    label: String,
    #[serde(default)]
    set: SetFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetFile {
    #[serde(default)]
    cell: Table,
}

fn once() -> u32 {
    1
}

impl Plan {
    /// Reads a plan and checks all of it, every cell included. `file` is what errors call it.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let wrong = |error: toml::de::Error| PlanError::of(file, text, &error);
        let read: PlanFile = toml::from_str(text).map_err(wrong)?;
        toml::from_str::<Typed>(text).map_err(wrong)?;
        let factors = read.factor.into_iter().map(|factor| expanded(file, text, factor));
        let plan = Self {
            name: read.name,
            title: read.title,
            origin: read.origin,
            asks: read.asks,
            seed: read.seed,
            repetitions: read.repetitions,
            takes: read.takes,
            factors: factors.collect::<Result<_, _>>()?,
            left_out: read.leave_out,
            origin_figures: read.origin_figure,
            figures: read.figure,
            claims: read.claim,
            quick: read.quick,
            cell: read.cell,
            file: file.to_owned(),
        };
        validate(&plan, file, text)?;
        Ok(plan)
    }
}

/// A factor whose simple form is written out.
fn expanded(file: &str, text: &str, factor: Spanned<FactorFile>) -> Result<Factor, PlanError> {
    let line = line_of(text, factor.span().start);
    let FactorFile { name, key, values, level } = factor.into_inner();
    let levels = match key {
        Some(key) if level.is_empty() => {
            values.into_iter().map(|value| simple(file, text, &key, &value)).collect::<Result<_, _>>()?
        }
        None if values.is_empty() => level.into_iter().map(|level| written(text, level)).collect(),
        _ => {
            let what = format!("factor \"{name}\": either `key` with `values`, or `[[factor.level]]`");
            return Err(PlanError::at(file, line, what));
        }
    };
    Ok(Factor { name, levels })
}

fn simple(file: &str, text: &str, key: &Spanned<String>, value: &Spanned<Value>) -> Result<Level, PlanError> {
    let set = setting(key.get_ref(), value.get_ref());
    match set.as_ref().and_then(|set| (set.len() == 1).then(|| set.get("cell")).flatten()) {
        Some(Value::Table(cell)) => Ok(Level {
            label: label(value.get_ref()),
            set: cell.clone(),
            line: line_of(text, value.span().start),
        }),
        _ => {
            let line = line_of(text, key.span().start);
            let what = format!("key: \"{}\" is no key of a cell, as \"cell.path.rtt\" is", key.get_ref());
            Err(PlanError::at(file, line, what))
        }
    }
}

fn written(text: &str, level: Spanned<LevelFile>) -> Level {
    let line = line_of(text, level.span().start);
    let LevelFile { label, set } = level.into_inner();
    Level { label, set: set.cell, line }
}
