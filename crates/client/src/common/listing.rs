//! Listing a directory, page by page, of any version: what is done when a server does not take a cookie, or goes in circles.

use std::ops::ControlFlow;

use howdah_vfs::listing::Circle;
use howdah_vfs::{Attributes, Caller, Detail, Entry, FsError, Handle, Listing, Node, Result};

use super::{LISTING_MIN, Transfers, Verifiers};

/// Where a listing goes on.
#[derive(Clone, Copy)]
pub(crate) struct Position<'p> {
    pub(crate) caller: &'p Caller,
    pub(crate) directory: &'p Handle,
    pub(crate) cookie: u64,
    pub(crate) verifier: [u8; 8],
}

/// An entry as a page has it.
pub(crate) struct Listed<'l> {
    pub(crate) name: &'l [u8],
    pub(crate) file: u64,
    pub(crate) cookie: u64,
    /// The node's handle, and perhaps its attributes.
    pub(crate) told: Option<(Handle, Option<Attributes>)>,
}

/// Takes the entries of a page.
pub(crate) type Sink<'s> = dyn FnMut(&Listed<'_>) -> ControlFlow<()> + 's;

/// What there is to a page beside its entries.
pub(crate) struct Page {
    directory: Option<Attributes>,
    verifier: [u8; 8],
    end: bool,
    /// The cookie of the last entry that was taken.
    last: Option<u64>,
    /// Whether the sink broke off.
    broken: bool,
}

impl Page {
    pub(crate) fn new(directory: Option<Attributes>, verifier: [u8; 8], end: bool) -> Self {
        Self { directory, verifier, end, last: None, broken: false }
    }

    /// Gives an entry to the sink.
    pub(crate) fn give(&mut self, listed: &Listed<'_>, sink: &mut Sink<'_>) -> ControlFlow<()> {
        let flow = sink(listed);
        self.broken = flow.is_break();
        if !self.broken {
            self.last = Some(listed.cookie);
        }
        flow
    }
}

/// What is tried when a server does not take a cookie any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// Nothing was tried yet.
    None,
    /// Without the verifier, which may be an old one while the cookie is still good.
    NoVerifier,
    /// From the start, passing over all entries up to the one of that cookie.
    FromStart { past: u64 },
}

/// A client that lists as much of a directory as fits one call.
pub(crate) trait DirectoryPages: Transfers {
    /// The verifiers of listings.
    fn verifiers(&self) -> &Verifiers;

    /// Gives the entries of one page to `sink`.
    fn page(&self, position: &Position<'_>, detail: Detail, sink: &mut Sink<'_>) -> Result<Page>;

    /// The number of an entry's node, and with details the node; none if it is gone meanwhile.
    fn details(&self, position: &Position<'_>, detail: Detail, listed: &Listed<'_>) -> (u64, Option<Node>);

    /// Lists from behind an entry on.
    fn list(
        &self,
        caller: &Caller,
        directory: &Handle,
        cookie: u64,
        detail: Detail,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        let verifier = if cookie == 0 { [0; 8] } else { self.verifiers().of(directory) };
        let mut position = Position { caller, directory, cookie, verifier };
        let mut remedy = Remedy::None;
        let (mut circle, mut restarts) = (Circle::default(), Circle::default());
        loop {
            let page = self.page(&position, detail, &mut |listed| match &mut remedy {
                Remedy::FromStart { past } => {
                    if listed.cookie == *past {
                        remedy = Remedy::None;
                    }
                    ControlFlow::Continue(())
                }
                _ => {
                    let (file, node) = self.details(&position, detail, listed);
                    sink(Entry { name: listed.name, file, cookie: listed.cookie, node: node.as_ref() })
                }
            });
            let page = match page {
                Err(FsError::BadCookie) if position.cookie != 0 => {
                    remedy = next_remedy(remedy, &mut position)?;
                    if let Remedy::FromStart { past } = remedy {
                        if restarts.closes_at(past) {
                            return Err(FsError::BadCookie);
                        }
                        // The same pages come once more.
                        circle = Circle::default();
                    }
                    continue;
                }
                page => page?,
            };
            self.verifiers().remember(directory, page.verifier);
            if page.broken {
                return Ok(Listing { end: false, directory: page.directory });
            }
            match (page.last, page.end, remedy) {
                // All of it was passed over: the entry of that cookie is gone.
                (_, true, Remedy::FromStart { .. }) => return Err(FsError::BadCookie),
                (_, true, _) => return Ok(Listing { end: true, directory: page.directory }),
                (Some(last), false, _) if circle.closes_at(last) => {
                    tracing::warn!("the server's directory listing loops");
                    return Err(FsError::ServerFault);
                }
                (Some(last), false, _) => {
                    (position.cookie, position.verifier) = (last, page.verifier);
                    if remedy == Remedy::NoVerifier {
                        remedy = Remedy::None;
                    }
                }
                (None, false, _) => {
                    tracing::warn!("the server lists neither an entry nor the end of the directory");
                    return Err(FsError::ServerFault);
                }
            }
        }
    }

    /// The most bytes of a page: as far as the way to the server carries them, but enough for any entry.
    fn page_size(&self) -> u32 {
        let size = self.within_transfer(self.transfer_sizes().listing);
        u32::try_from(size).map_or(LISTING_MIN, |size| size.max(LISTING_MIN))
    }
}

fn next_remedy(tried: Remedy, position: &mut Position<'_>) -> Result<Remedy> {
    let verifier = std::mem::take(&mut position.verifier);
    match tried {
        Remedy::None if verifier != [0; 8] => Ok(Remedy::NoVerifier),
        Remedy::None | Remedy::NoVerifier => {
            Ok(Remedy::FromStart { past: std::mem::take(&mut position.cookie) })
        }
        // The directory changes faster than it can be listed.
        Remedy::FromStart { .. } => Err(FsError::BadCookie),
    }
}
