//! Whatever a plan names must be there: factors, levels, clients, figures, hosts, wires.

use std::collections::{BTreeMap, BTreeSet};

use super::error::line_of;
use super::known::{SERIES, unknown_figure};
use super::{Cell, FigureKind, Plan, PlanError};

/// Cells that a plan has at most: all of them are read and checked before the first one runs.
const MOST_CELLS: usize = 10_000;
/// Repetitions at most, as many as `--repetitions` takes.
const MOST_REPETITIONS: u32 = 1000;
/// What no client is called: files and figures of these names are others'.
const TAKEN: [&str; 6] = ["server", "relay", "total", "link", "netem", "verdict"];

/// Checks all of it, every cell in both forms included.
pub fn validate(plan: &Plan, file: &str, text: &str) -> Result<(), PlanError> {
    let checker = Checker { plan, file, text };
    checker.names()?;
    checker.factors()?;
    checker.left_out()?;
    let cells = plan.cells(false)?;
    checker.each_cell(&cells)?;
    checker.each_cell(&plan.cells(true)?)?;
    checker.origin_figures(&cells)?;
    checker.figures(&cells)?;
    checker.claims(&cells)
}

struct Checker<'a> {
    plan: &'a Plan,
    file: &'a str,
    text: &'a str,
}

impl Checker<'_> {
    /// An error about the `index`th line that begins with this header.
    fn wrong(&self, header: &str, index: usize, what: String) -> PlanError {
        let place = self.text.match_indices(header).nth(index).map(|(offset, _)| line_of(self.text, offset));
        PlanError { file: self.file.to_owned(), line: place, what }
    }

    fn names(&self) -> Result<(), PlanError> {
        let Plan { name, .. } = self.plan;
        if !is_plain(name) {
            let what = format!("name: \"{name}\" names files: letters, digits and - are allowed");
            return Err(self.wrong("name", 0, what));
        }
        let allowed = 1..=MOST_REPETITIONS;
        if [false, true].iter().any(|quick| !allowed.contains(&self.plan.repetitions(*quick))) {
            let what = format!("repetitions: 1 or more are allowed, up to {MOST_REPETITIONS}");
            return Err(self.wrong("repetitions", 0, what));
        }
        Ok(())
    }

    fn factors(&self) -> Result<(), PlanError> {
        let mut names = BTreeSet::new();
        for (index, factor) in self.plan.factors.iter().enumerate() {
            let wrong =
                |what: &str| self.wrong("[[factor]]", index, format!("factor \"{}\": {what}", factor.name));
            if factor.levels.is_empty() {
                return Err(wrong("it has no levels: `values`, or `[[factor.level]]`"));
            }
            if !names.insert(&factor.name) {
                return Err(wrong("another one has that name"));
            }
            let labels: BTreeSet<&str> = factor.labels().collect();
            if labels.len() != factor.levels.len() {
                return Err(wrong("two levels have the same label"));
            }
        }
        let levels = self.plan.factors.iter().map(|factor| factor.levels.len());
        let cells = levels.fold(1, usize::saturating_mul);
        if cells > MOST_CELLS {
            let what =
                format!("{cells} cells, of all levels of all factors; at most {MOST_CELLS} are allowed");
            return Err(self.wrong("[[factor]]", 0, what));
        }
        for (factor, labels) in &self.plan.quick.factors {
            for label in labels {
                self.level(factor, label)
                    .map_err(|what| self.wrong("[quick]", 0, format!("quick: {what}")))?;
            }
        }
        Ok(())
    }

    fn left_out(&self) -> Result<(), PlanError> {
        for (index, left_out) in self.plan.left_out.iter().enumerate() {
            let checked = self.levels(&left_out.cells);
            checked.map_err(|what| self.wrong("[[leave_out]]", index, format!("leave_out: {what}")))?;
        }
        Ok(())
    }

    fn each_cell(&self, cells: &[Cell]) -> Result<(), PlanError> {
        if cells.is_empty() {
            return Err(self.wrong("[quick]", 0, "quick: no cell is left".to_owned()));
        }
        for cell in cells {
            let wrong = |what: String| self.wrong("[cell", 0, format!("cell {}: {what}", cell.number));
            if cell.spec.clients.is_empty() {
                return Err(wrong("nobody works in it: [cell.clients.NAME] is missing".to_owned()));
            }
            for (name, client) in &cell.spec.clients {
                if !is_plain(name) || TAKEN.contains(&name.as_str()) {
                    let taken = TAKEN.join(", ");
                    return Err(wrong(format!(
                        "client \"{name}\" names files: letters, digits and - are allowed, and not {taken}"
                    )));
                }
                if let Some(wire) = &client.wire
                    && !cell.spec.wire_names().any(|known| known == wire)
                {
                    let known: Vec<&str> = cell.spec.wire_names().collect();
                    let known = known.join(", ");
                    return Err(wrong(format!("client {name}: no wire \"{wire}\"; there are: {known}")));
                }
                if client.version.is_some() && !client.kind.has_versions() {
                    return Err(wrong(format!(
                        "client {name}: `version` is for kind = \"howdah\", \"copy\", \"mount\" and \"kernel\""
                    )));
                }
                if !cell.spec.host_names().contains(client.host.as_str()) {
                    return Err(wrong(format!("client {name}: no wire leads to host \"{}\"", client.host)));
                }
            }
        }
        Ok(())
    }

    fn origin_figures(&self, cells: &[Cell]) -> Result<(), PlanError> {
        for (index, figure) in self.plan.origin_figures.iter().enumerate() {
            let checked = self.levels(&figure.cells).and_then(|()| self.figure(&figure.figure, cells));
            checked
                .map_err(|what| self.wrong("[[origin_figure]]", index, format!("origin_figure: {what}")))?;
        }
        Ok(())
    }

    fn figures(&self, cells: &[Cell]) -> Result<(), PlanError> {
        for (index, figure) in self.plan.figures.iter().enumerate() {
            let mut checked = self.levels(&figure.cells);
            for factor in figure.x.iter().chain(&figure.by) {
                checked = checked.and_then(|()| self.named(factor));
            }
            if let Some(y) = &figure.y {
                checked = checked.and_then(|()| self.figure(y, cells));
            }
            for shown in &figure.show {
                checked = checked.and_then(|()| known_series(shown));
            }
            let needs = match figure.kind {
                FigureKind::Swept if figure.x.is_none() || figure.y.is_none() => {
                    Some("swept needs `x` and `y`")
                }
                FigureKind::Series if figure.show.is_empty() => Some("series needs `show`"),
                FigureKind::Bars if figure.y.is_none() => Some("bars needs `y`"),
                _ => None,
            };
            let checked = checked.and_then(|()| needs.map_or(Ok(()), |needs| Err(needs.to_owned())));
            checked.map_err(|what| self.wrong("[[figure]]", index, format!("figure: {what}")))?;
        }
        Ok(())
    }

    fn claims(&self, cells: &[Cell]) -> Result<(), PlanError> {
        for (index, claim) in self.plan.claims.iter().enumerate() {
            let mut checked = self.levels(&claim.cells).and_then(|()| self.figure(&claim.figure, cells));
            checked = checked.and_then(|()| is_measured("where", &claim.cells, cells));
            if claim.at_most.is_none() && claim.at_least.is_none() {
                checked = checked.and(Err("it needs `at_most` or `at_least`".to_owned()));
            }
            if let Some(super::Of::Figure { figure, cells: other }) = &claim.of {
                checked = checked.and_then(|()| self.levels(other)).and_then(|()| self.figure(figure, cells));
                // The cell beside has the claim's levels, but for those that `of` names.
                let beside = claim.cells.clone().into_iter().chain(other.clone()).collect();
                checked = checked.and_then(|()| is_measured("of.where", &beside, cells));
            }
            checked.map_err(|what| self.wrong("[[claim]]", index, format!("claim: {what}")))?;
        }
        Ok(())
    }

    fn levels(&self, levels: &BTreeMap<String, String>) -> Result<(), String> {
        levels.iter().try_for_each(|(factor, label)| self.level(factor, label))
    }

    fn level(&self, factor: &str, label: &str) -> Result<(), String> {
        self.named(factor)?;
        let factor = self.plan.factor(factor).expect("it is named");
        if factor.has(label) {
            return Ok(());
        }
        let known: Vec<String> = factor.labels().map(|label| format!("\"{label}\"")).collect();
        Err(format!("factor \"{}\" has no level \"{label}\"; it has: {}", factor.name, known.join(", ")))
    }

    fn named(&self, factor: &str) -> Result<(), String> {
        if self.plan.factor(factor).is_some() {
            return Ok(());
        }
        let known: Vec<String> =
            self.plan.factors.iter().map(|factor| format!("\"{}\"", factor.name)).collect();
        Err(format!("no factor is called \"{factor}\"; there are: {}", known.join(", ")))
    }

    /// A figure that no cell has is a mistake.
    fn figure(&self, name: &str, cells: &[Cell]) -> Result<(), String> {
        let mut why = None;
        for cell in cells {
            match unknown_figure(name, &cell.spec) {
                None => return Ok(()),
                unknown => why = why.or(unknown),
            }
        }
        why.map_or(Ok(()), Err)
    }
}

/// Refuses levels that only cells have which the plan leaves out.
fn is_measured(key: &str, levels: &BTreeMap<String, String>, cells: &[Cell]) -> Result<(), String> {
    let is_of = |cell: &&Cell| levels.iter().all(|(factor, level)| cell.factors.get(factor) == Some(level));
    if cells.iter().any(|cell| is_of(&cell)) {
        return Ok(());
    }
    let named: Vec<String> = levels.iter().map(|(factor, level)| format!("{factor} = \"{level}\"")).collect();
    Err(format!("{key}: the plan leaves out all cells with {}", named.join(", ")))
}

/// Whether a file can be named after it.
fn is_plain(name: &str) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    !name.is_empty() && name.chars().all(plain)
}

fn known_series(shown: &str) -> Result<(), String> {
    if SERIES.contains(&shown) {
        return Ok(());
    }
    Err(format!("a series does not show \"{shown}\"; it shows: {}", SERIES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::testing::TEXT;
    use super::*;

    #[test]
    fn errors_name_the_line_the_key_and_what_is_allowed() {
        for (was, is, line, says) in [
            ("workload = \"write\"", "wrokload = \"write\"", 15, "wrokload"),
            ("kind = \"howdah\"", "kind = \"nfsd\"", 14, "expected one of"),
            ("limit = \"50s\"", "limit = \"50\"", 9, "no time"),
            ("seed = 2008", "sed = 2008", 5, "`seed`"),
            ("key = \"cell.path.rtt\"", "key = \"path.rtt\"", 20, "no key of a cell"),
            ("key = \"cell.path.rtt\"", "key = \"cell.server.kind\"", 21, "factor \"rtt\", level \"0ms\""),
            ("values = [\"0ms\", \"30ms\", \"100ms\"]", "values = [\"30ms\", \"30ms\"]", 18, "same label"),
            ("label = \"the kernel's\"", "label = \"fixed\"", 22, "same label"),
            (
                "factors.rtt = [\"30ms\"]",
                "factors.rtt = [\"31ms\"]",
                30,
                "it has: \"0ms\", \"30ms\", \"100ms\"",
            ),
            ("x = \"rtt\"", "x = \"rate\"", 42, "there are: \"rtt\", \"buffer\""),
            ("y = \"throughput\"", "y = \"speed\"", 42, "its last word is one of throughput"),
            ("at_most = 0.5\n", "", 49, "`at_most` or `at_least`"),
            ("of = \"line rate\"", "of = \"line\"", 54, "of"),
            ("name = \"buffers\"", "name = \"a/b\"", 1, "letters, digits"),
            ("repetitions = 3", "repetitions = 0", 6, "1 or more"),
            ("repetitions = 3", "repetitions = 4000000000", 6, "up to 1000"),
        ] {
            let text = TEXT.replacen(was, is, 1);
            assert_ne!(text, TEXT, "{was}");
            let error = Plan::parse("plan.toml", &text).expect_err(is);
            assert!(error.what.contains(says), "{is}: {error}");
            assert_eq!(error.line, Some(line), "{is}: {error}");
            assert!(error.to_string().starts_with(&format!("plan.toml:{line}: ")), "{error}");
        }
    }

    #[test]
    fn claims_are_about_cells_that_are_measured() {
        let left_out = "[[leave_out]]\nwhere = { rtt = \"30ms\", buffer = \"fixed\" }\nwhy = \"x\"\n[quick]";
        let text = TEXT.replacen("[quick]", left_out, 1);
        let (head, claims) = text.split_once("[[claim]]").expect("a claim");
        let (first, second) = claims.split_once("[[claim]]").expect("another one");
        for (claim, key) in [(first, "where"), (second, "of.where")] {
            let error = Plan::parse("plan.toml", &format!("{head}[[claim]]{claim}")).expect_err(key);
            let says = format!(
                "claim: {key}: the plan leaves out all cells with buffer = \"fixed\", rtt = \"30ms\""
            );
            assert_eq!(error.what, says);
        }
    }

    #[test]
    fn clients_are_called_what_files_can_be() {
        for name in ["\"../../x\"", "\"\"", "server", "total"] {
            let text = TEXT.replace("[cell.clients.main]", &format!("[cell.clients.{name}]"));
            let error = Plan::parse("plan.toml", &text).expect_err(name);
            assert!(error.what.contains("names files"), "{error}");
        }
    }

    #[test]
    fn cells_are_not_without_number() {
        let more: String = (0..60)
            .map(|number| {
                format!("[[factor]]\nname = \"{number}\"\nkey = \"cell.limit\"\nvalues = [\"1s\", \"2s\"]\n")
            })
            .collect();
        let text = TEXT.replacen("[[factor]]", &format!("{more}[[factor]]"), 1);
        let error = Plan::parse("plan.toml", &text).expect_err("too many");
        assert!(error.what.contains("at most 10000"), "{error}");
    }

    #[test]
    fn a_version_is_for_clients_that_have_several() {
        let version = |kind: &str, version: &str| {
            let client = format!("kind = \"{kind}\"\nversion = \"{version}\"");
            Plan::parse("plan.toml", &TEXT.replacen("kind = \"howdah\"", &client, 1))
        };
        let plan = version("howdah", "4.1").expect("it has it");
        let cells = plan.cells(false).expect("cells");
        assert_eq!(cells[0].spec.clients["main"].version_option().as_deref(), Some("version=4.1"));
        let plan = version("kernel", "4.2").expect("it has it");
        let cells = plan.cells(false).expect("cells");
        assert_eq!(cells[0].spec.clients["main"].mount_options(), ["vers=4.2"]);
        let error = version("ping", "4.1").expect_err("no NFS");
        assert!(error.what.contains("client main: `version` is for kind = "), "{error}");
        assert!(version("howdah", "4.0").is_err());
    }

    #[test]
    fn clients_need_hosts_and_wires() {
        for (line, says) in [
            ("host = \"elsewhere\"", "no wire leads to host \"elsewhere\""),
            ("wire = \"path9\"", "no wire \"path9\"; there are: path0"),
        ] {
            let text = TEXT.replacen("workload = \"write\"", line, 1);
            let error = Plan::parse("plan.toml", &text).expect_err(line);
            assert!(error.what.contains(says), "{error}");
        }
        let alone = TEXT.split("[cell.clients.main]").next().expect("a head");
        let error = Plan::parse("plan.toml", alone).expect_err("nobody works");
        assert!(error.what.contains("nobody works in it"), "{error}");
    }
}
