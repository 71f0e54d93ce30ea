//! Whether this server can tell the quotas of its exports: refused at start, and not when a client asks.

use anyhow::{Result, bail};
use howdah_store::local::can_ask_quotas;

use super::file_systems::FileSystems;
use crate::configuration::ExportConfig;

/// Refuses to tell quotas where the kernel does not tell them to this server.
pub fn require_quotas(configs: &[ExportConfig], directories: &FileSystems) -> Result<()> {
    let mut open = configs.iter().zip(directories.iter());
    let is_own = |(config, open): &(&ExportConfig, &super::file_systems::OpenFileSystem)| {
        config.source.directory().is_some() && !open.opened.acts_as_caller
    };
    if let Some((config, _)) = open.find(is_own) {
        bail!(
            "cannot tell the quotas of export {}: only a server that acts as its callers may read them; start it as root, or set quotas = false",
            config.name
        );
    }
    if !can_ask_quotas() {
        bail!(
            "cannot tell quotas: this kernel has no quotactl_fd (Linux 5.14, with CONFIG_QUOTACTL); set quotas = false"
        );
    }
    Ok(())
}
