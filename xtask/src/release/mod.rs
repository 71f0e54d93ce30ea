//! `cargo xtask release`: the binary that is given to others, its checksum, and the list of what is in it; and whether somebody else who
//! builds the same commit gets the same bytes.
#![allow(clippy::print_stdout, reason = "its output is for a person")]

mod bill;
mod build;
mod checkout;
mod debian;
mod image;
mod symbols;
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::rustc;
use crate::workspace::Workspace;
use build::{Built, build, sum};
use checkout::Checkout;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What every file's checksum is written to.
const SUMS: &str = "SHA256SUMS";

/// Makes a release of the last commit
///
/// Builds the last commit, not what lies here changed, at no place that the binary could show, and writes the binary, its debug
/// symbols, a Debian package of it (Debian 12 and later), a bill of materials (CycloneDX, JSON) of every crate that is in it,
/// and checksums (SHA-256) of all. With --image a container image, too; no container engine is needed.
#[derive(Debug, Args)]
#[command(after_help = "Example: cargo xtask release --static --image --twice --to dist")]
pub struct Arguments {
    /// Where the files go
    #[arg(long, value_name = "DIR", default_value = "target/dist")]
    to: PathBuf,
    /// Build a static binary, too, for hosts with any C library or none. Takes rustup target add ARCH-unknown-linux-musl, and musl-gcc
    /// (Debian package musl-tools)
    #[arg(long = "static")]
    is_static: bool,
    /// Make a container image of the static binary, too (OCI archive, for docker load and podman load)
    #[arg(long)]
    image: bool,
    /// Build it a second time, from another copy at another place, and fail unless both are the same byte for byte
    #[arg(long)]
    twice: bool,
    /// Build nothing: only pack this binary as a Debian package, or as an image with --image, to try them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["is_static", "twice"])]
    binary: Option<PathBuf>,
}

/// Does it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let workspace = Workspace::find()?;
    let checkout = Checkout::of(&workspace.root, "HEAD")?;
    println!("howdah {VERSION} of commit {}", checkout.commit);
    if checkout.differs {
        println!("what is changed here and not committed is not in it");
    }
    let to = env::current_dir().context("asking where we are")?.join(&arguments.to);
    fs::create_dir_all(&to).with_context(|| format!("making {}", to.display()))?;
    let host = rustc::host(&mut Command::new("rustc"))?;
    let mut names = Vec::new();
    match &arguments.binary {
        Some(binary) if arguments.image => names.push(image(&checkout, binary, &host, &to)?),
        Some(binary) => names.push(package(&checkout, binary, &host, &to)?),
        None => {
            let first = release(&workspace, &checkout, &host, arguments.twice, &to, &mut names)?;
            names.push(package(&checkout, &first.file, &host, &to)?);
            if arguments.is_static || arguments.image {
                let target = host.replace("-gnu", "-musl");
                let built = release(&workspace, &checkout, &target, arguments.twice, &to, &mut names)?;
                if arguments.image {
                    names.push(image(&checkout, &built.file, &target, &to)?);
                }
            }
        }
    }
    let sums: Result<Vec<String>> =
        names.iter().map(|name| Ok(format!("{}  {name}\n", sum(&to.join(name))?))).collect();
    write(&to, SUMS, sums?.concat().as_bytes())
}

/// Builds a binary, and writes it with its bill of materials. Adds what it wrote to the names.
fn release(
    workspace: &Workspace,
    checkout: &Checkout,
    target: &str,
    twice: bool,
    to: &Path,
    names: &mut Vec<String>,
) -> Result<Built> {
    let first = build(workspace, checkout, target).with_context(|| format!("building it for {target}"))?;
    if twice {
        // By its name: somebody may have committed since.
        let other = Checkout::of(&workspace.root, &checkout.commit)?;
        let second = build(workspace, &other, target).context("building it again")?;
        compare(&first, &second)?;
        println!(
            "built twice, at {} and {}: the same {} bytes",
            checkout.path().display(),
            other.path().display(),
            first.bytes.len()
        );
    }
    let name = format!("howdah-{VERSION}-{target}");
    let bill = bill::of(workspace, checkout, target).context("listing what is in it")?;
    write(to, &name, &first.bytes)?;
    let symbols = format!("{name}.debug");
    fs::copy(&first.symbols, to.join(&symbols)).context("copying the debug symbols")?;
    fs::set_permissions(to.join(&name), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .context("making it a program")?;
    write(to, &format!("{name}.sha256"), format!("{}  {name}\n", first.sum).as_bytes())?;
    let listed = format!("{name}.cdx.json");
    write(to, &listed, bill.text.as_bytes())?;
    println!("{} crates in it, {} of them ours, as its bill of materials has them", bill.crates, bill.ours);
    names.extend([name, symbols, listed]);
    Ok(first)
}

/// Packs a binary. Gives the package's name.
fn package(checkout: &Checkout, binary: &Path, target: &str, to: &Path) -> Result<String> {
    let name = format!("howdah_{VERSION}_{}.deb", debian::architecture(target)?);
    let binary = binary.canonicalize().with_context(|| format!("finding {}", binary.display()))?;
    let source = checkout.path();
    let contents =
        debian::Contents { source: &source, binary: &binary, target, version: VERSION, time: &checkout.time };
    let file = to.join(&name);
    debian::pack(&contents, &file).context("making the Debian package")?;
    println!("wrote {}", file.display());
    Ok(name)
}

/// Makes a container image of a binary. Gives its name.
fn image(checkout: &Checkout, binary: &Path, target: &str, to: &Path) -> Result<String> {
    let name = format!("howdah-{VERSION}-{}.oci.tar", debian::architecture(target)?);
    let file = to.join(&name);
    image::pack(&image::Contents { binary, target, version: VERSION, time: &checkout.time }, &file)
        .context("making the container image")?;
    println!("wrote {}", file.display());
    Ok(name)
}

/// Makes a container image of a binary that is built for tests, with the libraries of this machine, without what debuggers read.
pub fn image_for_tests(binary: &Path, to: &Path) -> Result<()> {
    let target = rustc::host(&mut Command::new("rustc"))?;
    let directory =
        tempfile::Builder::new().prefix("howdah-strip-").tempdir().context("making a directory")?;
    let stripped = directory.path().join("howdah");
    tree::said(Command::new("strip").arg("-o").arg(&stripped).arg(binary))?;
    image::pack(&image::Contents { binary: &stripped, target: &target, version: VERSION, time: "0" }, to)
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
