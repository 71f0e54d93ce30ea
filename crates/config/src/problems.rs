//! What is wrong in a configuration, each with its place, shown as compilers show theirs.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use serde_json::{Value, json};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which bytes of the file it is about; none if it is about what is not there.
    pub place: Option<Range<usize>>,
    /// What is wrong.
    pub what: String,
    /// What to do about it, if that is not plain.
    pub help: Option<String>,
}

/// Everything that is wrong in one file, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    file: PathBuf,
    text: String,
    problems: Vec<Problem>,
}

impl Problems {
    /// The problems of this file, which holds this text.
    pub fn new(file: PathBuf, text: String, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.place.as_ref().map(|place| place.start));
        Self { file, text, problems }
    }

    /// Each of them for a machine: `file`, `line` and `column` (from 1, null without a place), `message`, `help` (or null).
    pub fn json(&self) -> Value {
        let json = |problem: &Problem| {
            let spot = problem.place.as_ref().map(|place| Spot::of(&self.text, place));
            json!({
                "file": self.file.to_string_lossy(),
                "line": spot.as_ref().map(|spot| spot.line),
                "column": spot.as_ref().map(|spot| spot.column),
                "message": problem.what,
                "help": problem.help,
            })
        };
        self.problems.iter().map(json).collect()
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        for (number, problem) in self.problems.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            let Some(place) = &problem.place else {
                write!(f, "{}: {}", self.file.display(), problem.what)?;
                continue;
            };
            let spot = Spot::of(&self.text, place);
            let gutter = " ".repeat(spot.line.to_string().len());
            writeln!(f, "{}:{}:{}: {}", self.file.display(), spot.line, spot.column, problem.what)?;
            writeln!(f, " {gutter} |")?;
            writeln!(f, " {} | {}", spot.line, spot.text)?;
            write!(f, " {gutter} | {}{}", spot.indent, "^".repeat(spot.width))?;
            if let Some(help) = &problem.help {
                write!(f, "\n {gutter} = {help}")?;
            }
        }
        if count > 1 { write!(f, "\n{}: {count} problems", self.file.display()) } else { Ok(()) }
    }
}

/// A place as people count: lines and columns from 1, columns in characters.
struct Spot<'t> {
    line: usize,
    column: usize,
    text: &'t str,
    /// What stands before the place, as blanks, tabs kept so that the marks stand right below.
    indent: String,
    width: usize,
}

impl<'t> Spot<'t> {
    fn of(text: &'t str, place: &Range<usize>) -> Self {
        let start = floor(text, place.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let end = floor(text, place.end).clamp(start, line_end);
        let before = &text[line_start..start];
        Self {
            line: text[..line_start].matches('\n').count() + 1,
            column: before.chars().count() + 1,
            text: text[line_start..line_end].trim_end_matches('\r'),
            indent: before.chars().map(|c| if c == '\t' { c } else { ' ' }).collect(),
            width: text[start..end].chars().count().max(1),
        }
    }
}

/// The last place at or before this one where a character starts.
fn floor(text: &str, place: usize) -> usize {
    let place = place.min(text.len());
    (0..=place).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_and_characters() {
        let text = "a = 1\n\tü = \"x\"\n";
        let spot = Spot::of(text, &(12..15));
        assert_eq!((spot.line, spot.column, spot.width, spot.text), (2, 6, 3, "\tü = \"x\""));
        assert_eq!(spot.indent, "\t    ");
        assert_eq!(Spot::of(text, &(500..501)).line, 3);
        assert_eq!(Spot::of("", &(0..0)).line, 1);
    }
}
