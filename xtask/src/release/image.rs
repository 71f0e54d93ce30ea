//! A container image of a binary, as one file that engines load (OCI image layout, specification 1.1). It is made without an engine,
//! and the same binary and commit give the same bytes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::build::sum;
use super::debian;
use super::tree::{Tree, said};

/// Who the server is in it: an ordinary user.
const USER: &str = "1000:1000";
/// Directories of that user, where volumes are mounted. A new volume takes their owner from here.
const VOLUMES: [&str; 2] = ["data", "state"];
/// Where engines mount their own.
const MOUNTED: [&str; 3] = ["dev", "proc", "sys"];

/// So that programs find a name for the user.
const PASSWD: &str = "root:x:0:0:root:/:/nonexistent\nhowdah:x:1000:1000:howdah:/state:/nonexistent\n";
const GROUP: &str = "root:x:0:\nhowdah:x:1000:\n";

/// What an image is made of.
pub struct Contents<'a> {
    /// The binary: a static one, or one that can run here, which brings its libraries.
    pub binary: &'a Path,
    /// What it runs on, as rustc calls it.
    pub target: &'a str,
    pub version: &'a str,
    /// In seconds since 1970: the only time in the image.
    pub time: &'a str,
}

/// Packs it into this file.
pub fn pack(contents: &Contents<'_>, to: &Path) -> Result<()> {
    let directory =
        tempfile::Builder::new().prefix("howdah-image-").tempdir().context("making a directory")?;
    let layer = directory.path().join("layer.tar");
    fill(contents, &Tree(directory.path().join("tree")), &layer)?;
    let layout = Layout { tree: Tree(directory.path().join("image")) };
    let unpacked = sum(&layer)?;
    // Without the name and the time of the file that was packed.
    said(Command::new("gzip").args(["-9", "-n"]).arg(&layer))?;
    let layer =
        layout.add("tar+gzip", &fs::read(layer.with_extension("tar.gz")).context("reading the layer")?)?;
    let configuration = configuration(contents, &unpacked)?;
    let configuration = layout.add("config", configuration.to_string().as_bytes())?;
    layout.finish(contents, &configuration, &layer)?;
    tar(&layout.tree.0, contents.time, "0", to, &["--create", "."])
}

/// The image's only layer.
fn fill(contents: &Contents<'_>, tree: &Tree, layer: &Path) -> Result<()> {
    tree.copy(contents.binary, "usr/bin/howdah")?;
    let libraries = libraries(contents.binary)?;
    for library in &libraries {
        tree.copy(Path::new("/").join(library).as_path(), library)?;
    }
    tree.write("etc/passwd", PASSWD.as_bytes())?;
    tree.write("etc/group", GROUP.as_bytes())?;
    for directory in MOUNTED.iter().chain(&VOLUMES) {
        fs::create_dir(tree.0.join(directory)).with_context(|| format!("making {directory}"))?;
    }
    let programs = libraries.iter().map(String::as_str).chain(["usr/bin/howdah"]);
    tree.set_modes(&programs.map(PathBuf::from).collect::<Vec<_>>())?;
    let mut of_root = Vec::new();
    for entry in super::tree::files_in(&tree.0)? {
        let name = entry.file_name().context("a file without a name")?.to_string_lossy().into_owned();
        if !VOLUMES.contains(&name.as_str()) {
            of_root.push(name);
        }
    }
    let of_root = of_root.iter().map(String::as_str);
    tar(&tree.0, contents.time, "0", layer, &["--create"].into_iter().chain(of_root).collect::<Vec<_>>())?;
    let user = USER.split(':').next().unwrap_or(USER);
    tar(&tree.0, contents.time, user, layer, &[["--append"].as_slice(), &VOLUMES].concat())
}

/// The libraries of a binary and their loader, without the slash before them; none if it is static.
fn libraries(binary: &Path) -> Result<Vec<String>> {
    let listed = Command::new("ldd").arg(binary).output().context("starting ldd")?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    if !listed.status.success() || text.contains("statically linked") {
        return Ok(Vec::new());
    }
    ensure!(!text.contains("not found"), "a library of {} is not here:\n{text}", binary.display());
    Ok(listed_libraries(&text))
}

/// The same from what ldd prints: `NAME => PATH (ADDRESS)`, or `PATH (ADDRESS)`.
fn listed_libraries(text: &str) -> Vec<String> {
    let words = text.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')));
    words.map(|path| path.trim_start_matches('/').to_owned()).collect()
}

/// Runs tar in a directory so that owner, order and times do not depend on who does it.
fn tar(directory: &Path, time: &str, owner: &str, file: &Path, words: &[&str]) -> Result<()> {
    let mut command = Command::new("tar");
    command.args(["--format=gnu", "--sort=name", "--numeric-owner", &format!("--mtime=@{time}")]);
    command.args([&format!("--owner={owner}"), &format!("--group={owner}")]);
    command.arg("--directory").arg(directory).arg("--file").arg(file).args(words);
    said(&mut command).map(drop)
}

/// How the image is started, and what its layer is without compression.
fn configuration(contents: &Contents<'_>, unpacked: &str) -> Result<Value> {
    Ok(json!({
        "architecture": debian::architecture(contents.target)?,
        "os": "linux",
        "created": time_of(contents.time)?,
        "config": {
            "User": USER,
            "ExposedPorts": {"2049/tcp": {}, "2049/udp": {}},
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": ["/usr/bin/howdah", "serve", "--state", "/state"],
            "Cmd": ["/data"],
            "Volumes": {"/data": {}, "/state": {}},
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "howdah",
                "org.opencontainers.image.version": contents.version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{unpacked}")]},
    }))
}

/// As RFC 3339 writes it.
fn time_of(seconds: &str) -> Result<String> {
    let text =
        said(Command::new("date").args(["--utc", &format!("--date=@{seconds}"), "+%Y-%m-%dT%H:%M:%SZ"]))?;
    Ok(String::from_utf8_lossy(&text).trim().to_owned())
}

/// The directory of an image.
struct Layout {
    tree: Tree,
}

/// What an image says of one of its parts.
struct Part {
    sum: String,
    descriptor: Value,
}

impl Part {
    /// Where it is.
    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.sum)
    }
}

impl Layout {
    /// Adds a part of this kind.
    fn add(&self, kind: &str, bytes: &[u8]) -> Result<Part> {
        let media_type = match kind {
            "tar+gzip" => "application/vnd.oci.image.layer.v1.tar+gzip",
            "config" => "application/vnd.oci.image.config.v1+json",
            _ => "application/vnd.oci.image.manifest.v1+json",
        };
        self.tree.write("blobs/part", bytes)?;
        let file = self.tree.0.join("blobs/part");
        let sum = sum(&file)?;
        let part = Part {
            descriptor: json!({"mediaType": media_type, "digest": format!("sha256:{sum}"), "size": bytes.len()}),
            sum,
        };
        fs::rename(&file, self.tree.make_room(&part.path())?).context("naming a part of the image")?;
        Ok(part)
    }

    /// Writes what names the parts: the index that the specification asks for, and the list that engines before it read
    /// (`docker load` before version 25).
    fn finish(&self, contents: &Contents<'_>, configuration: &Part, layer: &Part) -> Result<()> {
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": configuration.descriptor,
            "layers": [layer.descriptor],
        });
        let mut named = self.add("manifest", manifest.to_string().as_bytes())?.descriptor;
        let name = format!("howdah:{}", contents.version);
        named["annotations"] = json!({
            "org.opencontainers.image.ref.name": contents.version,
            "io.containerd.image.name": format!("docker.io/library/{name}"),
        });
        let index = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [named],
        });
        let older = json!([{"Config": configuration.path(), "RepoTags": [name], "Layers": [layer.path()]}]);
        self.tree.write("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        self.tree.write("index.json", index.to_string().as_bytes())?;
        self.tree.write("manifest.json", older.to_string().as_bytes())?;
        self.tree.set_modes(&[])?;
        fs::set_permissions(&self.tree.0, fs::Permissions::from_mode(0o755)).context("opening the image")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_with_a_path() {
        let text = "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x2)\n\t/lib64/ld-linux-x86-64.so.2 (0x3)\n";
        assert_eq!(listed_libraries(text), ["lib/x86_64-linux-gnu/libc.so.6", "lib64/ld-linux-x86-64.so.2"]);
    }

    #[test]
    #[allow(clippy::print_stderr, reason = "what is not tested here is said")]
    fn the_same_binary_and_commit_are_the_same_image() {
        let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if let Some(missing) = ["tar", "gzip", "ldd", "sha256sum"].into_iter().find(|program| !has(program)) {
            return eprintln!("SKIPPED: {missing} is not installed");
        }
        let home = tempfile::tempdir().expect("a directory");
        let images = ["one.tar", "two.tar"].map(|name| {
            let to = home.path().join(name);
            let contents = Contents {
                binary: Path::new("/bin/true"),
                target: "x86_64-unknown-linux-gnu",
                version: "1.2.3",
                time: "1700000000",
            };
            pack(&contents, &to).expect("packed");
            fs::read(&to).expect("an image")
        });
        assert!(images[0] == images[1] && !images[0].is_empty());
        let image = home.path().join("image");
        fs::create_dir(&image).expect("made");
        said(Command::new("tar").arg("-xf").arg(home.path().join("one.tar")).arg("-C").arg(&image))
            .expect("unpacked");
        let read =
            |path: &Path| -> Value { serde_json::from_slice(&fs::read(path).expect("there")).expect("JSON") };
        let blob = |part: &Value| {
            image.join("blobs").join(part["digest"].as_str().expect("a digest").replace(':', "/"))
        };
        let manifest = read(&blob(&read(&image.join("index.json"))["manifests"][0]));
        let configuration = read(&blob(&manifest["config"]));
        assert_eq!(configuration["config"]["User"], USER);
        assert_eq!(configuration["created"], "2023-11-14T22:13:20Z");
        let layer = blob(&manifest["layers"][0]);
        assert_eq!(
            fs::metadata(&layer).expect("there").len(),
            manifest["layers"][0]["size"].as_u64().expect("a size")
        );
        let listed =
            said(Command::new("tar").args(["--numeric-owner", "-tvzf"]).arg(&layer)).expect("listed");
        let listed = String::from_utf8_lossy(&listed).into_owned();
        for part in ["drwxr-xr-x 1000/1000", " state/", "-rwxr-xr-x 0/0", " usr/bin/howdah"] {
            assert!(listed.contains(part), "{part} in\n{listed}");
        }
    }
}
