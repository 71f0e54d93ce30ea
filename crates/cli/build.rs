//! A release holds one copy of functions with the same code: 3 MB less of 43. LLD does it, which Rust brings and uses by itself
//! on this target, unless a distribution left it out or somebody chose another linker.

use std::env::var;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    let chosen = var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && !chosen && has_lld() {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Whether the compiler brings LLD.
fn has_lld() -> bool {
    let compiler = var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let Ok(answer) = Command::new(compiler).args(["--print", "sysroot"]).output() else { return false };
    let sysroot = PathBuf::from(String::from_utf8_lossy(&answer.stdout).trim());
    sysroot.join("lib/rustlib/x86_64-unknown-linux-gnu/bin/gcc-ld/ld.lld").exists()
}
