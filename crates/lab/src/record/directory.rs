//! The directory that holds the results of one run of one plan.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{Row, SeriesLine};

/// A result directory: `plan.toml`, `rows.jsonl`, `series/`, `logs/`, and what a report adds.
#[derive(Debug, Clone)]
pub struct ResultDirectory {
    path: PathBuf,
}

/// The name of a result directory: `NAME-YYYYMMDD-HHMMSS`, in UTC.
pub fn name_of(plan: &str, started: jiff::Timestamp) -> String {
    format!("{plan}-{}", started.strftime("%Y%m%d-%H%M%S"))
}

impl ResultDirectory {
    /// Makes it, with the plan's text in it. One that holds rows of the same plan text already is gone on with.
    pub fn create(path: &Path, plan: &str) -> Result<Self> {
        let directory = Self { path: path.to_owned() };
        let copy = directory.plan_path();
        if copy.exists() && directory.plan_text()? != plan {
            bail!("{} has results of another plan, or of another version of this one", path.display());
        }
        for part in ["series", "logs", "figures"] {
            let part = path.join(part);
            fs::create_dir_all(&part).with_context(|| format!("making {}", part.display()))?;
        }
        // Never over the one that is there: on a full disk that would be lost, and with it what all rows are of.
        let beside = copy.with_extension("part");
        let written = fs::write(&beside, plan).and_then(|()| fs::rename(&beside, &copy));
        written.with_context(|| format!("writing {}", copy.display()))?;
        directory.drop_cut_row()?;
        Ok(directory)
    }

    /// Opens one that exists.
    pub fn open(path: &Path) -> Result<Self> {
        let directory = Self { path: path.to_owned() };
        if !directory.plan_path().is_file() {
            bail!("{} is no result directory: there is no plan.toml in it", path.display());
        }
        Ok(directory)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The copy of the plan.
    pub fn plan_path(&self) -> PathBuf {
        self.path.join("plan.toml")
    }

    /// The plan's text, as it was read.
    pub fn plan_text(&self) -> Result<String> {
        let path = self.plan_path();
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    }

    /// Where the figures of a report go.
    pub fn figures_path(&self) -> PathBuf {
        self.path.join("figures")
    }

    /// Where the report goes.
    pub fn report_path(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// Where one repetition of one cell keeps what its programs said, made if need be.
    pub fn logs(&self, cell: u32, repetition: u32) -> Result<PathBuf> {
        let path = self.path.join("logs").join(format!("{cell:03}-{repetition}"));
        fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        Ok(path)
    }

    /// The time series of one repetition of one cell, from this directory.
    pub fn series_name(cell: u32, repetition: u32) -> String {
        format!("series/{cell:03}-{repetition}.jsonl")
    }

    /// Adds a row; it is on the disk's way before the next cell begins.
    pub fn append(&self, row: &Row) -> Result<()> {
        let path = self.rows_path();
        let mut line = serde_json::to_vec(row).context("a row as JSON")?;
        line.push(b'\n');
        let file = OpenOptions::new().create(true).append(true).open(&path);
        file.and_then(|mut file| file.write_all(&line)).with_context(|| format!("writing {}", path.display()))
    }

    /// All rows, in the order in which they were measured. A last line that was cut off is not one.
    pub fn rows(&self) -> Result<Vec<Row>> {
        read_lines(&self.rows_path())
    }

    /// Writes a time series.
    pub fn write_series(&self, name: &str, lines: &[SeriesLine]) -> Result<()> {
        let path = self.path.join(name);
        let file = File::create(&path).with_context(|| format!("making {}", path.display()))?;
        let mut writer = BufWriter::new(file);
        for line in lines {
            serde_json::to_writer(&mut writer, line).context("a series as JSON")?;
            writer.write_all(b"\n").with_context(|| format!("writing {}", path.display()))?;
        }
        writer.flush().with_context(|| format!("writing {}", path.display()))
    }

    /// Reads the time series that a row names.
    pub fn series(&self, name: &str) -> Result<Vec<SeriesLine>> {
        read_lines(&self.path.join(name))
    }

    /// Takes away a last row that was cut off, so that the next one begins a line.
    fn drop_cut_row(&self) -> Result<()> {
        let path = self.rows_path();
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            read => read.with_context(|| format!("reading {}", path.display()))?,
        };
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let file = OpenOptions::new().write(true).open(&path);
        file.and_then(|file| file.set_len(whole as u64))
            .with_context(|| format!("cutting {}", path.display()))
    }

    fn rows_path(&self) -> PathBuf {
        self.path.join("rows.jsonl")
    }
}

/// Every line of a file as JSON; of none if it is not there. Only the last line may be cut off.
fn read_lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let file = File::open(path).with_context(|| format!("reading {}", path.display()))?;
    let lines = BufReader::new(file).lines().collect::<Result<Vec<_>, _>>();
    let lines = lines.with_context(|| format!("reading {}", path.display()))?;
    let mut values = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        match serde_json::from_str(line) {
            Ok(value) => values.push(value),
            Err(error) if error.is_eof() && index + 1 == lines.len() => break,
            Err(error) => bail!("{}:{}: {error}", path.display(), index + 1),
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::super::testing::row;
    use super::super::{ConnectionSample, LinkSample};
    use super::*;

    #[test]
    fn rows_and_series_come_back_and_a_cut_line_does_not() {
        let home = tempfile::tempdir().expect("a directory");
        let directory = ResultDirectory::create(home.path(), "name = \"x\"").expect("made");
        let rows = [row(1, 1), row(2, 1)];
        rows.iter().for_each(|row| directory.append(row).expect("written"));
        assert_eq!(directory.rows().expect("read"), rows);
        let mut file = OpenOptions::new().append(true).open(directory.rows_path()).expect("there");
        file.write_all(b"{\"plan\":\"bu").expect("written");
        assert_eq!(directory.rows().expect("read"), rows);
        drop(file);
        let again = ResultDirectory::create(home.path(), "name = \"x\"").expect("gone on with");
        again.append(&row(3, 1)).expect("written");
        assert_eq!(again.rows().expect("read").len(), 3);
        let lines = [
            SeriesLine::Connection(ConnectionSample::default()),
            SeriesLine::Link(LinkSample { at: 0.5, ..LinkSample::default() }),
        ];
        let name = ResultDirectory::series_name(1, 1);
        directory.write_series(&name, &lines).expect("written");
        assert_eq!(directory.series(&name).expect("read"), lines);
    }

    #[test]
    fn a_plan_is_kept_until_it_is_written_again() {
        let home = tempfile::tempdir().expect("a directory");
        let directory = ResultDirectory::create(home.path(), "name = \"x\"").expect("made");
        // Nothing can be written there, as on a full disk.
        fs::create_dir(home.path().join("plan.part")).expect("made");
        assert!(ResultDirectory::create(home.path(), "name = \"x\"").is_err());
        assert_eq!(directory.plan_text().expect("there"), "name = \"x\"");
        fs::remove_dir(home.path().join("plan.part")).expect("removed");
        ResultDirectory::create(home.path(), "name = \"x\"").expect("the same again");
        assert!(!home.path().join("plan.part").exists());
    }

    #[test]
    fn another_plan_keeps_out() {
        let home = tempfile::tempdir().expect("a directory");
        assert!(ResultDirectory::open(home.path()).is_err());
        ResultDirectory::create(home.path(), "name = \"x\"").expect("made");
        ResultDirectory::create(home.path(), "name = \"x\"").expect("the same again");
        assert!(ResultDirectory::create(home.path(), "name = \"y\"").is_err());
        assert!(ResultDirectory::open(home.path()).is_ok());
    }
}
