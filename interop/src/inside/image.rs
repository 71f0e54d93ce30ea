//! A container image as a file (OCI image layout): what it runs, as which user, and its layers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::command::run;

/// An unpacked image.
#[derive(Debug)]
pub struct Image {
    directory: PathBuf,
    manifest: Value,
    configuration: Value,
}

impl Image {
    /// Unpacks an archive into a new directory.
    pub fn unpack(archive: &Path, directory: &Path) -> Result<Self> {
        fs::create_dir(directory).with_context(|| format!("making {}", directory.display()))?;
        let (from, to) = (archive.to_string_lossy(), directory.to_string_lossy());
        run("tar", &["--extract", "--no-same-owner", "--file", &from, "--directory", &to])?;
        Self::at(directory)
    }

    /// Reads one that is unpacked.
    pub fn at(directory: &Path) -> Result<Self> {
        let index = read(&directory.join("index.json"))?;
        let manifest = read(&blob(directory, &index["manifests"][0])?)?;
        let configuration = read(&blob(directory, &manifest["config"])?)?;
        Ok(Self { directory: directory.to_owned(), manifest, configuration })
    }

    /// Archives of its layers, the lowest first.
    pub fn layers(&self) -> Result<Vec<PathBuf>> {
        let layers = self.manifest["layers"].as_array().context("the image has no layers")?;
        layers.iter().map(|layer| blob(&self.directory, layer)).collect()
    }

    /// Numbers of its user and group.
    pub fn user(&self) -> Result<(u32, u32)> {
        let text = self.configuration["config"]["User"].as_str().context("the image names no user")?;
        let (user, group) = text.split_once(':').context("the image names no group")?;
        Ok((user.parse().context("the image's user")?, group.parse().context("the image's group")?))
    }

    /// What it runs, with the environment that it asks for.
    pub fn command(&self) -> Result<Command> {
        let (mut words, environment) = (self.strings("Entrypoint"), self.strings("Env"));
        words.extend(self.strings("Cmd"));
        ensure!(!words.is_empty(), "the image runs nothing");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env_clear();
        command.envs(environment.iter().filter_map(|pair| pair.split_once('=')));
        Ok(command)
    }

    fn strings(&self, key: &str) -> Vec<String> {
        let list = self.configuration["config"][key].as_array().into_iter().flatten();
        list.filter_map(|word| word.as_str().map(str::to_owned)).collect()
    }
}

fn read(path: &Path) -> Result<Value> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| format!("reading {}", path.display()))
}

fn blob(directory: &Path, descriptor: &Value) -> Result<PathBuf> {
    let digest = descriptor["digest"].as_str().context("a part of the image has no digest")?;
    Ok(directory.join("blobs").join(digest.replace(':', "/")))
}
