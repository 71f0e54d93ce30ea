//! Handles of the server and handles of the trait: the server's may be longer.

use howdah_vfs::Handle;
use nfs3_types::nfs3::nfs_fh3;
use nfs3_types::xdr_codec::Opaque;
use parking_lot::Mutex;

/// Stands before the place of a handle that is too long for the trait.
const PLACE: u8 = 0xfe;

/// The handles that are too long, by their place.
#[derive(Default)]
pub(super) struct Handles(Mutex<Vec<Vec<u8>>>);

impl Handles {
    /// The trait's handle for the server's: the same bytes if they fit, else its place here.
    pub(super) fn take(&self, handle: &nfs_fh3) -> Handle {
        let bytes: &[u8] = &handle.data;
        Handle::new(bytes).unwrap_or_else(|_| {
            let mut long = self.0.lock();
            let place = long.iter().position(|known| known == bytes).unwrap_or_else(|| {
                long.push(bytes.to_vec());
                long.len() - 1
            });
            let mut short = vec![PLACE];
            short.extend_from_slice(&(place as u64).to_be_bytes());
            Handle::new(&short).expect("nine bytes fit")
        })
    }

    /// The server's handle for the trait's.
    pub(super) fn give(&self, handle: &Handle) -> nfs_fh3 {
        let bytes = handle.as_bytes();
        let long = bytes.strip_prefix(&[PLACE]).and_then(|place| {
            let place = u64::from_be_bytes(place.try_into().ok()?);
            self.0.lock().get(usize::try_from(place).ok()?).cloned()
        });
        nfs_fh3 { data: Opaque::owned(long.unwrap_or_else(|| bytes.to_vec())) }
    }
}
