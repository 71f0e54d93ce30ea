//! What a server of this configuration needs: which files it must reach, and whether it needs ports below 1024 again.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use howdah_config::{AdminSocket, ExportConfig, Sandbox, ServerConfig, Source};
use howdah_confine::{Confinement, ConfinementPlan, Reach};
use howdah_store::local::HandleSource;
use howdah_tls::ServerFiles;

use super::prepared::Prepared;

/// Ports from here on are anybody's.
const FIRST_FREE_PORT: u16 = 1024;

/// Gives up what the server needs no more, for this thread and all that come. To be called before any is started. `file` is the configuration, which a reload reads again.
pub fn confine(
    prepared: &mut Prepared,
    config: &ServerConfig,
    file: Option<&PathBuf>,
) -> Option<Confinement> {
    if config.sandbox == Sandbox::Off {
        return None;
    }
    let done = howdah_confine::confine(&plan(config, file, prepared));
    prepared.files_confined = done.files.is_ok();
    Some(done)
}

/// What may be given up.
fn plan<'p>(config: &ServerConfig, file: Option<&PathBuf>, prepared: &'p Prepared) -> ConfinementPlan<'p> {
    ConfinementPlan {
        // Servers take calls from ports below 1024 alone by default, also after a connection is lost.
        low_ports: config.exports.iter().any(|export| matches!(export.source, Source::Server(_)))
            || prepared.portmapper.is_registered()
            || prepared.sockets.per_interface.addresses.iter().any(is_low),
        files: reach(config, file, prepared),
        system_calls: match config.sandbox {
            Sandbox::Seccomp | Sandbox::Strict => Ok(()),
            _ => Err("--sandbox seccomp refuses others".to_owned()),
        },
    }
}

fn is_low(address: &SocketAddr) -> bool {
    address.port() < FIRST_FREE_PORT
}

/// The files that must stay within reach.
fn reach<'p>(
    config: &ServerConfig,
    file: Option<&PathBuf>,
    prepared: &'p Prepared,
) -> Result<Reach<'p>, String> {
    if config.sandbox == Sandbox::NoLandlock {
        return Err("switched off".to_owned());
    }
    let mut by_handles = false;
    for (root, export) in prepared.roots.iter().zip(&config.exports) {
        let Some(root) = root else { continue };
        if root.handles() == HandleSource::Kernel {
            if config.sandbox != Sandbox::Strict {
                return Err("files found by the kernel's handles have no path to judge by; --sandbox strict"
                    .to_owned());
            }
            if !root.is_own_mount() {
                let why =
                    if export.cross_mounts { "crosses mounts" } else { "cannot be made a mount of its own" };
                return Err(format!(
                    "export {} {why}, so that the kernel cannot tell which files are in it",
                    export.name
                ));
            }
            by_handles = true;
        }
    }
    let admin = match &config.admin {
        AdminSocket::At(path) => path.parent().map(Path::to_owned),
        _ => None,
    };
    // What SIGHUP reads again.
    let tls = config.admin_listen.iter().filter_map(|listen| listen.tls.as_ref());
    let secure = config.tls.iter().flat_map(ServerFiles::paths);
    let far = config.exports.iter().flat_map(far_tls);
    let read = tls.flat_map(|tls| [&tls.certificate, &tls.key]).chain(secure).chain(far);
    let read = read.chain(file);
    let records = config.cluster.iter().filter_map(|cluster| cluster.records.as_ref());
    let caches = config.exports.iter().filter_map(|export| export.disk_cache.as_ref());
    let caches = caches.map(|cache| &cache.directory).filter(|directory| directory.is_dir());
    Ok(Reach {
        directories: prepared.roots.iter().flatten().map(AsFd::as_fd).collect(),
        own: [&config.state].into_iter().chain(records).chain(caches).cloned().collect(),
        remove: admin.into_iter().collect(),
        read: read.flat_map(|file| directories_of(file)).collect(),
        by_handles,
    })
}

/// What TLS to another server needs.
fn far_tls(export: &ExportConfig) -> impl Iterator<Item = &PathBuf> {
    let options = match &export.source {
        Source::Server(url) => Some(&url.options),
        _ => None,
    };
    let files = options.map(|options| [&options.tls_authorities, &options.tls_certificate, &options.tls_key]);
    files.into_iter().flatten().flatten()
}

/// Where a file lies, as it is named and as it is: an editor may put a new one in its place.
fn directories_of(file: &Path) -> Vec<PathBuf> {
    let named = std::path::absolute(file).ok();
    let real = file.canonicalize().ok();
    named.into_iter().chain(real).filter_map(|path| path.parent().map(Path::to_owned)).collect()
}
