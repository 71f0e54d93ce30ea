//! Whether this server can read the quotas of its exports: refused at start, and not when a client asks.

use anyhow::{Result, bail};
use howdah_config::ExportConfig;
use howdah_store::local::can_ask_quotas;

use super::file_systems::FileSystems;

/// Refuses what takes quotas where the kernel does not give them to this server. `all`: those of all exports are shown to
/// clients that ask.
pub fn require_quotas(configs: &[ExportConfig], directories: &FileSystems, all: bool) -> Result<()> {
    let setting = |config: &ExportConfig| if config.quota_in_df { "quota_in_df" } else { "quotas" };
    let needs = |config: &ExportConfig| config.source.directory().is_some() && (all || config.quota_in_df);
    for (config, open) in configs.iter().zip(directories.iter()).filter(|(config, _)| needs(config)) {
        if !open.opened.acts_as_caller {
            bail!(
                "cannot read the quotas of export {}: only a server that acts as its callers may; start it as root, or set {} = false",
                config.name,
                setting(config)
            );
        }
        if !can_ask_quotas() {
            bail!(
                "cannot read the quotas of export {}: this kernel has no quotactl_fd (Linux 5.14, with CONFIG_QUOTACTL); set {} = false",
                config.name,
                setting(config)
            );
        }
    }
    Ok(())
}
