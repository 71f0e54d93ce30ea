//! The Debian package of a binary: its files in a tree, which `dpkg-deb` packs so that the same binary and commit give the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::tree::{Tree, files_in, said};

/// The program that packs it, of every Debian and of those who build for it.
const PACKER: &str = "dpkg-deb";

/// Where the text of the manual's commands comes from and where completions go: shell, file.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/howdah"),
    ("zsh", "usr/share/zsh/vendor-completions/_howdah"),
    ("fish", "usr/share/fish/vendor_completions.d/howdah.fish"),
];

/// Files of the repository as they are: from, to.
const FILES: [(&str, &str); 9] = [
    ("packaging/howdah.toml", "etc/howdah.toml"),
    ("packaging/howdah.service", "usr/lib/systemd/system/howdah.service"),
    ("packaging/howdah.socket", "usr/lib/systemd/system/howdah.socket"),
    ("packaging/debian/copyright", "usr/share/doc/howdah/copyright"),
    ("LICENSE-MIT", "usr/share/doc/howdah/LICENSE-MIT"),
    ("LICENSE-APACHE", "usr/share/doc/howdah/LICENSE-APACHE"),
    ("docs/introduction.md", "usr/share/doc/howdah/introduction.md"),
    ("packaging/grafana/howdah.json", "usr/share/doc/howdah/grafana/howdah.json"),
    ("packaging/prometheus/howdah.rules.yml", "usr/share/doc/howdah/prometheus/howdah.rules.yml"),
];

/// Scripts that dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

const DESCRIPTION: &str = "\
NFS server, client and relay in user space
 Serves directories over NFSv3, NFSv4.1 and NFSv4.2 without a kernel module
 and without privileges. Mounts, copies and relays NFS exports, sized to the
 network path, and says what limits each connection.";

/// What a package is made of.
pub struct Contents<'a> {
    /// A checkout.
    pub source: &'a Path,
    /// The binary, which can run here.
    pub binary: &'a Path,
    /// What it runs on, as rustc calls it.
    pub target: &'a str,
    pub version: &'a str,
    /// In seconds since 1970: the only time in the package.
    pub time: &'a str,
}

/// Packs it into this file.
pub fn pack(contents: &Contents<'_>, to: &Path) -> Result<()> {
    let directory = tempfile::Builder::new().prefix("howdah-deb-").tempdir().context("making a directory")?;
    let tree = Tree(directory.path().join("tree"));
    fill(contents, &tree)?;
    control(contents, &tree)?;
    let scripts = SCRIPTS.iter().map(|script| Path::new("DEBIAN").join(script));
    tree.set_modes(&scripts.chain([PathBuf::from("usr/bin/howdah")]).collect::<Vec<_>>())?;
    // By one thread, since the number of threads shows in what xz writes.
    let packed = Command::new(PACKER)
        .args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"])
        .arg(&tree.0)
        .arg(to)
        .env("SOURCE_DATE_EPOCH", contents.time)
        .output()
        .with_context(|| format!("starting {PACKER} (Debian package dpkg)"))?;
    ensure!(packed.status.success(), "{PACKER}: {}", String::from_utf8_lossy(&packed.stderr).trim());
    Ok(())
}

/// What Debian calls the machine.
pub fn architecture(target: &str) -> Result<&'static str> {
    Ok(match target.split('-').next() {
        Some("x86_64") => "amd64",
        Some("aarch64") => "arm64",
        _ => bail!("no Debian architecture is known for {target}"),
    })
}

fn fill(contents: &Contents<'_>, tree: &Tree) -> Result<()> {
    tree.copy(contents.binary, "usr/bin/howdah")?;
    for (from, to) in FILES {
        tree.copy(&contents.source.join(from), to)?;
    }
    for page in files_in(&contents.source.join("docs/manual"))? {
        let name = page.file_name().context("a page without a name")?.to_string_lossy();
        tree.copy(&page, &format!("usr/share/doc/howdah/manual/{name}"))?;
    }
    // As mount(8) and fstab call it: mount -t howdah.
    tree.make_room("usr/sbin/mount.howdah")?;
    symlink("../bin/howdah", tree.0.join("usr/sbin/mount.howdah")).context("linking mount.howdah")?;
    let manual = tree.0.join("usr/share/man/man1");
    fs::create_dir_all(&manual).context("making the directory of the manual")?;
    said(Command::new(contents.binary).arg("man").arg(&manual))?;
    for page in files_in(&manual)? {
        let packed = Command::new("gzip").args(["-9", "-n"]).arg(&page).status().context("starting gzip")?;
        ensure!(packed.success(), "gzip {} failed", page.display());
    }
    for (shell, to) in COMPLETIONS {
        tree.write(to, &said(Command::new(contents.binary).args(["completions", shell]))?)?;
    }
    Ok(())
}

fn control(contents: &Contents<'_>, tree: &Tree) -> Result<()> {
    let installed = tree.files()?;
    let sizes = installed.iter().map(|file| fs::metadata(file).map(|file| file.len().div_ceil(1024)));
    let kibibytes: u64 = sizes.sum::<std::io::Result<u64>>().context("adding up sizes")?;
    let depends = dependencies(contents.binary)?;
    let depends = if depends.is_empty() { String::new() } else { format!("Depends: {depends}\n") };
    let text = format!(
        "Package: howdah\nVersion: {}\nArchitecture: {}\nMaintainer: The howdah founders <howdah@localhost>\n\
         Installed-Size: {kibibytes}\n{depends}Recommends: fuse3\nSuggests: rpcbind\nSection: net\nPriority: optional\n\
         Description: {DESCRIPTION}\n",
        contents.version,
        architecture(contents.target)?,
    );
    let sums = said(Command::new("md5sum").args(tree.names(&installed)?).current_dir(&tree.0))?;
    tree.write("DEBIAN/control", text.as_bytes())?;
    tree.write("DEBIAN/conffiles", b"/etc/howdah.toml\n")?;
    tree.write("DEBIAN/md5sums", &sums)?;
    SCRIPTS.iter().try_for_each(|script| {
        tree.copy(&contents.source.join("packaging/debian").join(script), &format!("DEBIAN/{script}"))
    })
}

/// The packages that a binary needs, with the oldest C library that has all that it asks for; none if it is static.
fn dependencies(binary: &Path) -> Result<String> {
    let headers = said(Command::new("objdump").args(["-p"]).arg(binary))?;
    needs(&String::from_utf8_lossy(&headers))
}

/// The same from what objdump says of it.
fn needs(headers: &str) -> Result<String> {
    let mut packages = BTreeMap::new();
    for line in headers.lines().map(str::trim) {
        if let Some(library) = line.strip_prefix("NEEDED") {
            match library.trim() {
                "libgcc_s.so.1" => _ = packages.entry("libgcc-s1").or_insert((0, 0)),
                "libc.so.6" | "libm.so.6" | "ld-linux-x86-64.so.2" | "ld-linux-aarch64.so.1" => {
                    packages.entry("libc6").or_insert((0, 0));
                }
                other => bail!("the binary needs {other}, and no package of it is known here"),
            }
        }
        let version = line.rsplit(' ').next().and_then(|word| word.strip_prefix("GLIBC_"));
        let mut parts = version.into_iter().flat_map(|version| version.splitn(2, '.')).map(str::parse::<u32>);
        if let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) {
            let most = packages.entry("libc6").or_insert((0, 0));
            *most = (*most).max((major, minor));
        }
    }
    let named = packages.iter().map(|(package, version)| match version {
        (0, 0) => (*package).to_owned(),
        (major, minor) => format!("{package} (>= {major}.{minor})"),
    });
    Ok(named.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: &str = "\
Dynamic Section:
  NEEDED               libgcc_s.so.1
  NEEDED               libc.so.6
Version References:
  required from libc.so.6:
    0x06969185 0x00 25 GLIBC_2.25
    0x09691974 0x00 24 GLIBC_2.3.4
    0x069691b4 0x00 08 GLIBC_2.34
  required from libgcc_s.so.1:
    0x0b792650 0x00 21 GCC_3.0
";

    #[test]
    fn the_oldest_c_library_that_does_is_named() {
        assert_eq!(needs(HEADERS).expect("known"), "libc6 (>= 2.34), libgcc-s1");
        assert_eq!(needs("Dynamic Section:\n").expect("static"), "");
        let why = needs("  NEEDED  libssl.so.3\n").expect_err("unknown").to_string();
        assert!(why.contains("libssl.so.3"), "{why}");
    }

    #[test]
    fn machines_have_names_at_debian() {
        assert_eq!(architecture("x86_64-unknown-linux-musl").expect("known"), "amd64");
        assert!(architecture("riscv64gc-unknown-linux-gnu").is_err());
    }

    #[test]
    #[allow(clippy::print_stderr, reason = "what is not tested here is said")]
    fn the_same_binary_and_commit_are_the_same_package() {
        let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if let Some(missing) = [PACKER, "objdump", "gzip", "md5sum"].into_iter().find(|program| !has(program))
        {
            return eprintln!("SKIPPED: {missing} is not installed");
        }
        let home = tempfile::tempdir().expect("a directory");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
        // Any program that answers as howdah does, where objdump can read it.
        let binary = Path::new("/bin/true");
        let packages = ["one.deb", "two.deb"].map(|name| {
            let to = home.path().join(name);
            let contents = Contents {
                source,
                binary,
                target: "x86_64-unknown-linux-gnu",
                version: "1.2.3",
                time: "1700000000",
            };
            pack(&contents, &to).expect("packed");
            fs::read(&to).expect("a package")
        });
        assert!(packages[0] == packages[1] && !packages[0].is_empty());
        let listed =
            said(Command::new(PACKER).arg("--contents").arg(home.path().join("one.deb"))).expect("listed");
        let listed = String::from_utf8_lossy(&listed).into_owned();
        for part in [
            "-rwxr-xr-x root/root",
            "./usr/bin/howdah",
            "./usr/sbin/mount.howdah -> ../bin/howdah",
            "./usr/lib/systemd/system/howdah.service",
            "./etc/howdah.toml",
        ] {
            assert!(listed.contains(part), "{part} in\n{listed}");
        }
        let about =
            said(Command::new(PACKER).arg("--info").arg(home.path().join("one.deb"))).expect("an answer");
        let about = String::from_utf8_lossy(&about).into_owned();
        assert!(about.contains("Version: 1.2.3") && about.contains("Architecture: amd64"), "{about}");
    }
}
