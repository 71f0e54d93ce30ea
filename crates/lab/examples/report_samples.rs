//! Writes reports of made-up results, to be looked at in a browser: `cargo run -p howdah-lab --example report_samples
//! -- DIRECTORY`.

#[path = "../tests/report_pages/mod.rs"]
mod report_pages;

use std::path::{Path, PathBuf};

use howdah_lab::record::{Outcome, Row};
use howdah_lab::report::write;
use report_pages::{measured, plan, small};

fn main() -> anyhow::Result<()> {
    let home = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "report-samples".to_owned()));
    sample(&home, "small", &small(), |_| {})?;
    sample(&home, "one", &plan(&["30ms"], &["fixed"]), |_| {})?;
    sample(&home, "no-series", &small(), |row| row.series = None)?;
    sample(&home, "failed", &small(), fail_some)?;
    let rtts: Vec<String> = (0..25).map(|step| format!("{}ms", step * 12)).collect();
    let rtts: Vec<&str> = rtts.iter().map(String::as_str).collect();
    let buffers =
        ["64K", "128K", "256K", "1M", "3,158,016, fixed", "16,777,216, fixed", "tuned", "the kernel's"];
    sample(&home, "200-cells", &plan(&rtts, &buffers), fail_some)?;
    let long = "a receive buffer of the size that the administrator of that time computed from a round trip of 25 ms \
                and wrote into every machine's /etc/sysctl.conf without looking at it ever again";
    let names = plan(
        &["0ms", "30ms"],
        &[long, "Donaudampfschifffahrtsgesellschaftskapitän", "b", "the kernel's own"],
    );
    let names = names.replace("x = \"rtt\"", "x = \"receive buffer\"").replacen(
        "by = \"receive buffer\"",
        "by = \"rtt\"",
        1,
    );
    sample(&home, "long-names", &names, |_| {})?;
    sample(&home, "wide-range", &small(), |row| scale(row, 10f64.powi(3 * (row.cell as i32 - 3))))
}

fn sample(home: &Path, name: &str, plan: &str, change: impl FnMut(&mut Row)) -> anyhow::Result<()> {
    let path = home.join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path)?;
    }
    write(&measured(&path, plan, change))?;
    Ok(())
}

fn fail_some(row: &mut Row) {
    if row.cell == 2 || (row.cell == 5 && row.repetition == 1) || row.cell == 77 {
        row.outcome = Outcome::Failed(
            "server: it ended with exit status 1: binding 10.77.0.1:2049: address in use".to_owned(),
        );
        row.figures.clear();
        row.latencies.clear();
    }
}

fn scale(row: &mut Row, factor: f64) {
    for figure in row.figures.values_mut() {
        figure.value *= factor;
    }
    row.line_rate_bytes_per_second = row.line_rate_bytes_per_second.map(|rate| rate * factor);
}
