//! `howdah kerberos-helper`, which howdah starts by itself: the process that asks the system's Kerberos library.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context;
use howdah_confine::{ConfinementPlan, Reach, confine, give_up_capabilities};

use super::Failure;

/// Works for the process that started it, until that ends.
pub fn run() -> Result<(), Failure> {
    howdah_kerberos::run_helper(give_up_rights).context("howdah kerberos-helper")?;
    Ok(())
}

/// Gives up what a helper does not need. One that accepts has a directory for what it accepted, a keytab, and all of the system's files
/// to read. One that initiates takes its user's tickets from wherever they are: it keeps the rights of that user.
fn give_up_rights() {
    // What cannot be given up is kept, as in a server. Without capabilities there is little to be had.
    let _ = give_up_capabilities();
    let Some(directory) = env::var_os("KRB5RCACHEDIR") else { return };
    let keytab = env::var("KRB5_KTNAME").ok();
    let read = keytab.as_deref().and_then(directory_of).into_iter().collect();
    let reach = Reach { own: vec![directory.into()], read, ..Reach::default() };
    let _ = confine(&ConfinementPlan { low_ports: false, files: Ok(reach), system_calls: Ok(()) });
}

/// The directory of a keytab. A tool that changes a keytab may replace the file.
fn directory_of(keytab: &str) -> Option<PathBuf> {
    let path = keytab.strip_prefix("FILE:").or(keytab.strip_prefix("WRFILE:")).unwrap_or(keytab);
    Path::new(path).canonicalize().ok()?.parent().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::directory_of;

    #[test]
    fn the_directory_of_a_keytab_is_found_behind_its_kind() {
        let directory = tempfile::tempdir().expect("a directory");
        let keytab = directory.path().join("krb5.keytab");
        std::fs::write(&keytab, "").expect("written");
        let path = keytab.to_str().expect("a text");
        let wanted = directory.path().canonicalize().expect("there");
        for name in [path.to_owned(), format!("FILE:{path}"), format!("WRFILE:{path}")] {
            assert_eq!(directory_of(&name).as_ref(), Some(&wanted), "{name}");
        }
        assert_eq!(directory_of("MEMORY:keys"), None);
    }
}
