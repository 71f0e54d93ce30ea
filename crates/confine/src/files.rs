//! Landlock (landlock(7), Linux 5.19 for what is needed here): which files the process may reach at all, whatever its user
//! may.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, Erratum, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

/// What the process shall reach; everything else it cannot open, list, make, remove or rename.
#[derive(Debug, Default)]
pub struct Reach<'a> {
    /// Directories to be read and changed, open.
    pub directories: Vec<BorrowedFd<'a>>,
    /// The same by their paths.
    pub own: Vec<PathBuf>,
    /// Directories of which entries may be removed, and nothing else done: where a socket of ours has its name.
    pub remove: Vec<PathBuf>,
    /// Files and directories to be read; those that are not there are passed over.
    pub read: Vec<PathBuf>,
    /// Whether files beneath [`Reach::directories`] are opened by handles of the kernel, on mounts that begin there. A file
    /// that the kernel found by its handle has no path yet, and where its mount begins is all that says what it lies beneath.
    pub by_handles: bool,
}

/// What name look-ups, TLS and the figures of this host are read from, on any distribution.
const SYSTEM: [&str; 9] =
    ["/etc", "/usr", "/lib", "/lib64", "/run", "/proc", "/sys", "/dev/urandom", "/var/lib/sss"];

/// Confines this thread and those that it starts to what they shall reach.
///
/// # Errors
/// Why that cannot be, for a person: then nothing has changed.
pub(crate) fn reach_only(reach: &Reach<'_>) -> Result<(), String> {
    if reach.by_handles && !Erratum::current().contains(Erratum::DisconnectedDirectoryHandling) {
        return Err(
            "this kernel would refuse files that are opened by their handles (erratum 3 of Landlock)".into(),
        );
    }
    match restrict(reach) {
        Ok(RulesetStatus::NotEnforced) => Err("the kernel has no Landlock, or an old one".into()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn restrict(reach: &Reach<'_>) -> Result<RulesetStatus, RulesetError> {
    // Before its second version Landlock forbids to rename from one directory to another.
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V2))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))?
        .scope(Scope::Signal)?
        .create()?;
    for directory in &reach.directories {
        rules = rules.add_rule(PathBeneath::new(directory, change()))?;
    }
    for path in &reach.own {
        rules = allow(rules, path.clone(), change())?;
    }
    for path in &reach.remove {
        rules = allow(rules, path.clone(), AccessFs::RemoveFile.into())?;
    }
    for path in SYSTEM.into_iter().map(PathBuf::from).chain(reach.read.iter().cloned()) {
        rules = allow(rules, path, AccessFs::ReadFile | AccessFs::ReadDir)?;
    }
    Ok(rules.restrict_self()?.ruleset)
}

/// All but to run programs, and to steer devices.
fn change() -> BitFlags<AccessFs> {
    AccessFs::from_all(ABI::V5) & !(AccessFs::Execute | AccessFs::IoctlDev)
}

/// What is not there cannot be reached anyway.
fn allow(
    rules: RulesetCreated,
    path: PathBuf,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V5) };
    match PathFd::new(&path) {
        Ok(open) => rules.add_rule(PathBeneath::new(open, access)),
        Err(_) => Ok(rules),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use howdah_needs::{Lack, skipped};

    use super::*;

    #[test]
    fn a_thread_reaches_what_it_shall_and_nothing_else() {
        let home = std::env::temp_dir().join(format!("howdah-confine-{}", std::process::id()));
        let (inside, outside, names) = (home.join("inside"), home.join("outside"), home.join("names"));
        for directory in [&inside, &outside, &names] {
            fs::create_dir_all(directory).expect("made");
            fs::write(directory.join("file"), "data").expect("written");
        }
        let check = {
            let (inside, outside, names) = (inside.clone(), outside.clone(), names.clone());
            move || {
                let reach =
                    Reach { own: vec![inside.clone()], remove: vec![names.clone()], ..Reach::default() };
                if let Err(why) = reach_only(&reach) {
                    skipped(Lack::Kernel, why);
                    return;
                }
                fs::create_dir(inside.join("new")).expect("made inside");
                fs::rename(inside.join("file"), inside.join("new/file")).expect("moved inside");
                assert_eq!(fs::read(inside.join("new/file")).expect("read inside"), b"data");
                fs::read("/etc/passwd").expect("the system's files are read");
                let in_names = [fs::read(names.join("file")).err(), fs::write(names.join("new"), "x").err()];
                fs::remove_file(names.join("file")).expect("a name is removed");
                for refused in in_names.into_iter().chain([
                    fs::read(outside.join("file")).err(),
                    fs::write(outside.join("file"), "x").err(),
                    fs::write("/etc/howdah-confine", "x").err(),
                    fs::read_dir(&outside).err(),
                    fs::rename(inside.join("new/file"), outside.join("moved")).err(),
                ]) {
                    let error = refused.expect("refused");
                    assert!(matches!(error.raw_os_error(), Some(libc::EACCES | libc::EXDEV)), "{error}");
                }
            }
        };
        let outcome = std::thread::spawn(check).join();
        let _ = fs::remove_dir_all(&home);
        outcome.expect("as expected");
    }
}
