//! A host: a network namespace with interfaces, addresses and settings of its own.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;

use anyhow::{Context, Result};
use howdah_net::Namespace;

use super::Addresses;

/// A host of a network.
#[derive(Debug)]
pub struct LabHost {
    pub(super) name: String,
    pub(super) namespace: Namespace,
    /// By wire.
    pub(super) addresses: BTreeMap<String, Addresses>,
}

impl LabHost {
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its addresses, by the wires that it is on.
    pub fn addresses(&self) -> &BTreeMap<String, Addresses> {
        &self.addresses
    }

    /// A command that runs on it.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.namespace.command(program)
    }

    /// Runs something on a thread on it: sockets that it opens are this host's.
    pub fn run_in<T: Send>(&self, what: impl FnOnce() -> T + Send) -> Result<T> {
        self.namespace.run_in(what).with_context(|| format!("entering host {}", self.name))
    }

    /// Its network namespace, for threads and processes that live there.
    pub fn namespace(&self) -> &Namespace {
        &self.namespace
    }
}
