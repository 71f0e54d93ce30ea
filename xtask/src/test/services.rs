//! Servers that Debian's packages start when they are installed: the tests want the programs, not the services, which
//! would take the ports that `howdah serve` wants.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// Packages, and the unit that each would start.
const SERVICES: &[(&str, &str)] = &[
    ("nfs-kernel-server", "nfs-server.service"),
    ("nfs-ganesha", "nfs-ganesha.service"),
    ("krb5-kdc", "krb5-kdc.service"),
    ("krb5-admin-server", "krb5-admin-server.service"),
];

/// Units that are kept from starting.
pub struct Held<'a> {
    prefix: &'a [&'a str],
    units: Vec<&'static str>,
}

/// Keeps what these packages would start from starting. `prefix` are the words that run a command as root.
pub fn hold<'a>(prefix: &'a [&'a str], packages: &[&str]) -> Result<Held<'a>> {
    // Where systemd does not run, nothing starts by itself.
    let runs = Path::new("/run/systemd/system").is_dir();
    let wanted = SERVICES.iter().filter(|(package, _)| runs && packages.contains(package));
    let held = Held { prefix, units: wanted.map(|(_, unit)| *unit).collect() };
    held.systemctl(&["mask", "--runtime"])?;
    Ok(held)
}

impl Held<'_> {
    /// Lets other programs start them, but not at the next boot.
    pub fn release(&self) -> Result<()> {
        self.systemctl(&["unmask", "--runtime"])?;
        self.systemctl(&["disable"])
    }

    fn systemctl(&self, words: &[&str]) -> Result<()> {
        if self.units.is_empty() {
            return Ok(());
        }
        let words = [self.prefix, &["systemctl", "--quiet"], words, &self.units].concat();
        // A unit that could not be held is a nuisance, and no reason to test nothing.
        Command::new(words[0]).args(&words[1..]).status().context("starting systemctl")?;
        Ok(())
    }
}
