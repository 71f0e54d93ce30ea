//! `cargo xtask release`: the binary that is given to others, its checksum, and the list of what is in it; and whether somebody else who
//! builds the same commit gets the same bytes.
#![allow(clippy::print_stdout, reason = "its output is for a person")]

mod bill;
mod build;
mod checkout;

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::workspace::Workspace;
use build::{Built, build};
use checkout::Checkout;

/// Makes a release of the last commit
///
/// Builds the last commit, not what lies here changed, at no place that the binary could tell, and writes the binary, its SHA-256,
/// and a bill of materials (CycloneDX, JSON) of every crate that is in it.
#[derive(Debug, Args)]
#[command(after_help = "Example: cargo xtask release --twice --to dist")]
pub struct Arguments {
    /// Where the files go
    #[arg(long, value_name = "DIR", default_value = "target/dist")]
    to: PathBuf,
    /// Build it a second time, from another copy at another place, and fail unless both are the same byte for byte
    #[arg(long)]
    twice: bool,
}

/// Does it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let workspace = Workspace::find()?;
    let checkout = Checkout::of_last_commit(&workspace.root)?;
    println!("howdah {} of commit {}", env!("CARGO_PKG_VERSION"), checkout.commit);
    if checkout.differs {
        println!("what is changed here and not committed is not in it");
    }
    let first = build(&workspace, &checkout).context("building it")?;
    if arguments.twice {
        let other = Checkout::of_last_commit(&workspace.root)?;
        let second = build(&workspace, &other).context("building it again")?;
        compare(&first, &second)?;
        println!(
            "built twice, at {} and {}: the same {} bytes",
            checkout.path().display(),
            other.path().display(),
            first.bytes.len()
        );
    }
    let to = env::current_dir().context("asking where we are")?.join(&arguments.to);
    fs::create_dir_all(&to).with_context(|| format!("making {}", to.display()))?;
    let name = format!("howdah-{}-{}", env!("CARGO_PKG_VERSION"), first.target);
    let bill = bill::of(&workspace, &checkout, &first.target).context("listing what is in it")?;
    write(&to, &name, &first.bytes)?;
    fs::set_permissions(to.join(&name), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .context("making it a program")?;
    write(&to, &format!("{name}.sha256"), format!("{}  {name}\n", first.sum).as_bytes())?;
    write(&to, &format!("{name}.cdx.json"), bill.text.as_bytes())?;
    println!("{} crates in it, {} of them ours, as its bill of materials has them", bill.crates, bill.ours);
    Ok(())
}

fn write(to: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let file = to.join(name);
    fs::write(&file, bytes).with_context(|| format!("writing {}", file.display()))?;
    println!("wrote {}", file.display());
    Ok(())
}

/// Where two builds part, if they do.
fn compare(first: &Built, second: &Built) -> Result<()> {
    if first.bytes == second.bytes {
        return Ok(());
    }
    let at = first.bytes.iter().zip(&second.bytes).position(|(one, other)| one != other);
    let at = at.unwrap_or(first.bytes.len().min(second.bytes.len()));
    bail!(
        "two builds of one commit differ, from byte {at} on ({} and {} bytes): {} and {}; \
         objdump -s, or diffoscope, of the two shows what",
        first.bytes.len(),
        second.bytes.len(),
        first.file.display(),
        second.file.display()
    )
}
