//! The steps: resolve, find the ports, mount, open the channel, ask for the sizes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use howdah_tls::{ClientFiles, ClientTls};
use howdah_vfs::{Caller, FileKind, FileSystem};
use howdah_wire::rpc::{AuthFlavor, GssService};
use howdah_wire::{nfs3, nfs4};

use super::ping::ping;
use super::resolve::resolve;
use super::{ConnectError, ConnectOptions};
use crate::Remote;
use crate::channel::{Channel, ChannelOptions, ChannelProtocol, Patience, Target, Transport};
use crate::common::{Identity, Wanted};
use crate::gss::{ContextPlan, UserContexts};
use crate::mount::{Mount, MountError, NFS_PORT, Search, mount, mountable};
use crate::nfs3::{Nfs3, Settings};
use crate::nfs4::{Nfs4Client, Nfs4Settings, establish, session_protocol};
use crate::url::{NfsUrl, NfsVersion, Security, UrlOptions, WantedSecurity};

/// The file system that a URL names. Its root is the directory that the server's MOUNT gave for the longest start of the
/// path, or with NFSv4 the last directory on the path; [`Remote::below_root`] are the names of the path that are left, such as that of
/// a file. Without a version in the URL, NFSv4 is spoken where the server has no NFSv3.
///
/// # Errors
/// No address, nobody who answers there, or a refusal: each says the step, its subject, the cause, and what to do.
pub fn connect(url: &NfsUrl, options: &ConnectOptions) -> Result<Arc<dyn Remote>, ConnectError> {
    if !url.options.without_effect.is_empty() {
        tracing::info!(options = ?url.options.without_effect, "options of the URL that have no effect");
    }
    match url.options.version {
        Some(NfsVersion::V4(minor)) => Ok(Arc::new(open_nfs4(url, options, minor)?)),
        Some(NfsVersion::V3) => Ok(Arc::new(open_nfs3(url, options)?)),
        None => match open_nfs3(url, options) {
            Ok(client) => Ok(Arc::new(client)),
            Err(error) if error.has_no_nfs3() => match open_nfs4(url, options, None) {
                Ok(client) => Ok(Arc::new(client)),
                Err(later) => Err(if later.is_of_nfs4() { later } else { error }),
            },
            Err(error) => Err(error),
        },
    }
}

fn open_nfs3(url: &NfsUrl, options: &ConnectOptions) -> Result<Nfs3, ConnectError> {
    let options = &with_tls(url, options, nfs3::VERSION)?;
    let mut client = open_path(url, options, mountable(&url.path))?;
    // As far as a path is mounted, MNT may have answered for a file, which has no directory then: mountd(8) of Linux does.
    while options.into_directory
        && let Some(above) = (url.path.len() - client.below_root().len()).checked_sub(1)
        && root_kind(&client, &url.caller(options.caller.clone())) == Some(FileKind::Regular)
        && let Ok(shorter) = open_path(url, options, above)
    {
        client = shorter;
    }
    Ok(client)
}

/// The directory that a URL names, by NFSv4: from the server's root, without MOUNT and portmapper.
fn open_nfs4(url: &NfsUrl, options: &ConnectOptions, minor: Option<u32>) -> Result<Nfs4Client, ConnectError> {
    let options = &with_tls(url, options, nfs4::VERSION)?;
    let port = url.options.nfs_port.or(url.port).unwrap_or(NFS_PORT);
    let mut first = None;
    for address in addresses(url, port)? {
        let (protocol, calls) = session_protocol();
        match open_channel(url, options, address, protocol) {
            Ok(channel) => {
                let (channel, caller) = (Arc::new(channel), url.caller(options.caller.clone()));
                let Settings { identity, wanted, patience } =
                    settings(url, options, (&channel, nfs4::VERSION))?;
                prepare(url, &identity, &caller)?;
                let connect_patience = options.patience;
                let handle_file = options.handle_file.clone();
                let settings = Nfs4Settings {
                    address,
                    identity,
                    wanted,
                    patience,
                    connect_patience,
                    handle_file,
                    minor_version: minor,
                };
                return establish(channel, calls, &url.path, &caller, &settings)
                    .map_err(Box::new)
                    .map_err(|cause| ConnectError::Nfs4 { host: url.host.clone(), address, cause });
            }
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.expect("a host that was resolved has an address"))
}

fn addresses(url: &NfsUrl, port: u16) -> Result<Vec<SocketAddr>, ConnectError> {
    let fault = |cause| ConnectError::Resolve { host: url.host.clone(), cause: Arc::new(cause) };
    resolve(&url.host, port).map_err(fault)
}

/// What the root is: FSINFO need not say.
fn root_kind(client: &Nfs3, caller: &Caller) -> Option<FileKind> {
    let told = client.root_at_connect().map(|root| root.attributes);
    Some(told.or_else(|| client.attributes(caller, &client.root()).ok())?.kind)
}

/// The same options with what a URL says of TLS.
fn with_tls(url: &NfsUrl, options: &ConnectOptions, version: u32) -> Result<ConnectOptions, ConnectError> {
    let Some(tls) = tls_over(url, transport(url, options))? else { return Ok(options.clone()) };
    let tls = Some((tls, (nfs3::PROGRAM, version)));
    let channel = ChannelOptions { tls, ..options.channel.clone() };
    Ok(ConnectOptions { channel, ..options.clone() })
}

/// What TLS needs, if a URL asks for it; its files are read.
///
/// # Errors
/// A file cannot be read or does not hold what it should, or an option is missing.
pub fn tls_of(url: &NfsUrl) -> Result<Option<ClientTls>, ConnectError> {
    tls_over(url, url.options.transport.unwrap_or_default())
}

fn tls_over(url: &NfsUrl, transport: Transport) -> Result<Option<ClientTls>, ConnectError> {
    let said = &url.options;
    // QUIC is never without TLS.
    let wanted = match said.transport_security {
        WantedSecurity::None if transport == Transport::Quic && said.tls_certificate.is_some() => {
            WantedSecurity::MutualTls
        }
        WantedSecurity::None if transport == Transport::Quic => WantedSecurity::Tls,
        wanted => wanted,
    };
    let fail = |why: String| ConnectError::Tls { host: url.host.clone(), why };
    let identity = match (wanted, &said.tls_certificate, &said.tls_key) {
        (WantedSecurity::None, ..) => return Ok(None),
        (WantedSecurity::Tls, ..) => None,
        (WantedSecurity::DirectTls, None, None) => None,
        (WantedSecurity::MutualTls | WantedSecurity::DirectTls, Some(certificate), Some(key)) => {
            Some((certificate.clone(), key.clone()))
        }
        (WantedSecurity::DirectTls, ..) => {
            return Err(fail(
                "a certificate and its key go together: tlscert=FILE and tlskey=FILE".to_owned(),
            ));
        }
        (WantedSecurity::MutualTls, ..) => {
            return Err(fail(
                "xprtsec=mtls needs a certificate and its key: tlscert=FILE and tlskey=FILE".to_owned(),
            ));
        }
    };
    let files = ClientFiles { authorities: said.tls_authorities.clone(), identity };
    let tls = ClientTls::read(&files, said.tls_name.as_ref().unwrap_or(&url.host));
    let tls = tls.map_err(|error| fail(error.to_string()))?;
    Ok(Some(if wanted == WantedSecurity::DirectTls { tls.direct() } else { tls }))
}

/// Mounts at most so many names of the path.
fn open_path(url: &NfsUrl, options: &ConnectOptions, most: usize) -> Result<Nfs3, ConnectError> {
    let (path, rest) = url.path.split_at(most);
    let Found { nfs, mount, opening } = find(&url.with_path(path.to_vec()), options)?;
    let root = mount.handle;
    let fault =
        |refusal| ConnectError::Root { host: url.host.clone(), path: mount.mounted.path().to_vec(), refusal };
    check_flavors(url, &mount)?;
    let channel = opening.wait()?;
    let (caller, through) = (url.caller(options.caller.clone()), Arc::clone(&channel));
    let place = (root, [&mount.below[..], rest].concat());
    let settings = settings(url, options, (&channel, nfs3::VERSION))?;
    prepare(url, &settings.identity, &caller)?;
    let client = Nfs3::new(channel, transport(url, options), place, &caller, settings).map_err(fault)?;
    Ok(client.with_mount_calls(mount.calls).with_keep(mount.mounted.through(&through, nfs)))
}

/// What was found of a server.
struct Found {
    nfs: SocketAddr,
    mount: Mount,
    opening: Opening,
}

/// A connection to NFS that is being made while MOUNT is asked: this saves two round trips. Dropping this abandons the
/// connection.
struct Opening(Receiver<Result<Arc<Channel>, ConnectError>>);

impl Opening {
    fn begin(url: &NfsUrl, options: &ConnectOptions, nfs: SocketAddr) -> Self {
        let (sender, receiver) = mpsc::channel();
        let (its_url, its_options, its_sender) = (url.clone(), options.clone(), sender.clone());
        let begun = thread::Builder::new().name("connect".to_owned()).spawn(move || {
            // The receiver is gone if MOUNT failed meanwhile.
            let _ = its_sender.send(open(&its_url, &its_options, nfs));
        });
        if begun.is_err() {
            let _ = sender.send(open(url, options, nfs));
        }
        Self(receiver)
    }

    fn wait(self) -> Result<Arc<Channel>, ConnectError> {
        self.0.recv().expect("the thread sends its result")
    }
}

/// Tries the addresses of the host in turn until one of them answers, with a mount or with a refusal.
fn find(url: &NfsUrl, options: &ConnectOptions) -> Result<Found, ConnectError> {
    let host = || url.host.clone();
    let mut last = None;
    for address in addresses(url, options.portmap_port)? {
        match find_at(url, options, address) {
            Ok(found) => return Ok(found),
            Err(cause) if cause.is_tls() => return Err(ConnectError::Mount { host: host(), cause }),
            // Another address that refuses connections says less than one where another service answers.
            Err(error @ MountError::Unreachable { .. }) => {
                last = last.filter(|earlier: &MountError| earlier.not_rpc().is_some()).or(Some(error));
            }
            Err(cause) => return Err(ConnectError::Mount { host: host(), cause }),
        }
    }
    let cause = last.expect("a host that was resolved has an address");
    Err(ConnectError::Mount { host: host(), cause })
}

fn find_at(url: &NfsUrl, options: &ConnectOptions, portmapper: SocketAddr) -> Result<Found, MountError> {
    let search = Search {
        portmapper,
        port: url.port,
        nfs_port: url.options.nfs_port,
        mount_port: url.options.mount_port,
        transport: transport(url, options),
        caller: url.caller(options.caller.clone()),
        patience: options.patience,
    };
    let places = search.run();
    let opening = Opening::begin(url, options, places.nfs);
    let mut first = None;
    // What the portmapper knows is asked only when MOUNT was not where it was said to be.
    let elsewhere = std::iter::once_with(|| search.elsewhere()).flatten();
    for place in places.mount.into_iter().chain(elsewhere) {
        // Where MOUNT shares the port of NFS it is secured as well; a daemon of its own, as on Linux, knows no TLS.
        let is_shared = place.address == places.nfs && !place.transport.is_datagrams();
        let tls = options.channel.tls.clone().filter(|_| is_shared).map(|(tls, _)| tls);
        match mount(
            place,
            (&url.path, options.into_directory || options.may_be_file),
            search.caller.clone(),
            options.patience,
            tls,
        ) {
            Ok(mount) => return Ok(Found { nfs: places.nfs, mount, opening }),
            Err(error) if error.is_tls() => return Err(error),
            // Where another service answers, nothing else of NFS is to be found.
            Err(error @ MountError::Unreachable { .. }) if error.not_rpc().is_none() => {
                first = first.or(Some(error));
            }
            Err(refused) => return Err(refused),
        }
    }
    Err(first.expect("there is a place to look at"))
}

/// A server that says nothing of flavors takes what comes, and so does one that lists AUTH_NONE: it does not look.
fn check_flavors(url: &NfsUrl, mount: &Mount) -> Result<(), ConnectError> {
    let needed = match url.options.security {
        Security::Sys => AuthFlavor::SYS,
        Security::None => AuthFlavor::NONE,
        Security::Kerberos(GssService::None) => AuthFlavor::KRB5,
        Security::Kerberos(GssService::Integrity) => AuthFlavor::KRB5I,
        Security::Kerberos(GssService::Privacy) => AuthFlavor::KRB5P,
    };
    if mount.flavors.is_empty()
        || [needed, AuthFlavor::NONE].iter().any(|taken| mount.flavors.contains(taken))
    {
        return Ok(());
    }
    Err(ConnectError::Flavors { host: url.host.clone(), asked: needed, taken: mount.flavors.clone() })
}

fn open(url: &NfsUrl, options: &ConnectOptions, nfs: SocketAddr) -> Result<Arc<Channel>, ConnectError> {
    let host = || url.host.clone();
    let channel = open_channel(url, options, nfs, ChannelProtocol::default())?;
    match ping(&channel, options.patience) {
        Some(Ok(_)) => Ok(Arc::new(channel)),
        Some(Err(cause)) => Err(ConnectError::NotServed { host: host(), address: nfs, cause }),
        None => Err(ConnectError::Silent { host: host(), address: nfs, waited: options.patience }),
    }
}

fn open_channel(
    url: &NfsUrl,
    options: &ConnectOptions,
    nfs: SocketAddr,
    protocol: ChannelProtocol,
) -> Result<Channel, ConnectError> {
    let further = url.options.addresses.iter().map(|&address| SocketAddr::new(address, nfs.port()));
    let addresses = std::iter::once(nfs).chain(further).collect();
    let channel = ChannelOptions {
        lanes: url.options.lanes.unwrap_or(options.channel.lanes),
        patience: patience(url, options),
        first_transfer: first_transfer(url).or(options.channel.first_transfer),
        ..options.channel.clone()
    };
    let target = Target { addresses, transport: transport(url, options) };
    if target.transport.is_datagrams() && matches!(url.options.security, Security::Kerberos(_)) {
        let cause = crate::channel::LaneConnectError::KerberosOverDatagrams;
        return Err(ConnectError::Nfs { host: url.host.clone(), cause });
    }
    Channel::open_for(target, channel, protocol)
        .map_err(|cause| ConnectError::Nfs { host: url.host.clone(), cause })
}

/// `version`: of NFS, whose NULL procedure makes contexts of Kerberos.
fn settings(
    url: &NfsUrl,
    options: &ConnectOptions,
    (channel, version): (&Arc<Channel>, u32),
) -> Result<Settings, ConnectError> {
    let UrlOptions { user, group, read_size, write_size, listing_size, .. } = url.options;
    let identity = match url.options.security {
        Security::None => Identity::Nobody,
        Security::Sys if user.is_some() || group.is_some() => {
            Identity::Always(url.caller(options.caller.clone()))
        }
        Security::Sys => Identity::Caller,
        Security::Kerberos(service) => {
            let host = || url.host.clone();
            let tickets = options.tickets.clone().ok_or_else(|| ConnectError::NoKerberos { host: host() })?;
            let name = url.options.kerberos_name.as_ref().unwrap_or(&url.host).to_lowercase();
            let plan = ContextPlan {
                program: (nfs3::PROGRAM, version),
                service,
                target: format!("nfs@{name}"),
                tickets,
                user: user.or(options.ticket_user),
            };
            Identity::Kerberos(Arc::new(UserContexts::new(channel, plan)))
        }
    };
    let patience = match patience(url, options) {
        Patience::Hard => None,
        Patience::Soft(time) | Patience::WhileHeard(time) => Some(time),
    };
    let wanted = Wanted { read: read_size, write: write_size, listing: listing_size };
    Ok(Settings { identity, wanted, patience })
}

/// Makes the context of the caller where there is to be one: so a person learns why there is none.
fn prepare(url: &NfsUrl, identity: &Identity, caller: &Caller) -> Result<(), ConnectError> {
    let Identity::Kerberos(contexts) = identity else { return Ok(()) };
    let fault = |cause| ConnectError::Kerberos { host: url.host.clone(), cause };
    contexts.prepare(caller.user).map_err(fault)
}

/// Over datagrams, sizes that somebody chose are what to begin with.
fn first_transfer(url: &NfsUrl) -> Option<usize> {
    url.options.read_size.max(url.options.write_size).map(|size| size as usize)
}

fn transport(url: &NfsUrl, options: &ConnectOptions) -> Transport {
    url.options.transport.unwrap_or(options.transport)
}

fn patience(url: &NfsUrl, options: &ConnectOptions) -> Patience {
    match (url.options.gives_up_after(), options.channel.patience) {
        (None, usual) => usual,
        (Some(time), Patience::WhileHeard(_)) => Patience::WhileHeard(time),
        (Some(time), Patience::Hard | Patience::Soft(_)) => Patience::Soft(time),
    }
}
