//! Debug symbols of a binary, in a file of their own: the binary is a quarter as large without them, and a debugger finds them beside it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::tree::said;

/// Moves the debug symbols of a binary into a file beside it, whose name ends in `.debug`, and gives that. Names of functions stay in
/// the binary, for messages of panics.
pub fn move_apart(binary: &Path) -> Result<PathBuf> {
    let name = binary.file_name().context("a binary has a name")?.to_string_lossy().into_owned();
    let apart = binary.with_file_name(format!("{name}.debug"));
    let objcopy = || {
        let mut command = Command::new("objcopy");
        command.current_dir(binary.parent().unwrap_or(Path::new("/")));
        command
    };
    said(objcopy().args(["--only-keep-debug", "--compress-debug-sections"]).arg(binary).arg(&apart))?;
    let link = format!("--add-gnu-debuglink={name}.debug");
    said(objcopy().args(["--strip-debug", &link]).arg(binary))?;
    Ok(apart)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    #[test]
    fn a_binary_runs_without_its_symbols_and_says_where_they_are() {
        let home = tempfile::tempdir().expect("a directory");
        let binary = home.path().join("program");
        fs::copy(env::current_exe().expect("this test"), &binary).expect("copied");
        let before = fs::metadata(&binary).expect("there").len();
        let apart = move_apart(&binary).expect("moved");
        assert!(fs::metadata(&binary).expect("there").len() < before);
        assert!(fs::metadata(&apart).expect("there").len() > 1000);
        let listed = said(Command::new(&binary).arg("--list")).expect("it runs");
        assert!(String::from_utf8_lossy(&listed).contains("a_binary_runs_without_its_symbols"));
        let bytes = fs::read(&binary).expect("read");
        assert!(bytes.windows(13).any(|window| window == b"program.debug"), "a debugger finds them");
    }
}
