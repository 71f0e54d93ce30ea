//! The programs that are served: the one place that knows them all.

use crate::program::Program;
use crate::{mount, nfs3, nlm, portmap};

/// Every program, on every port.
pub static PROGRAMS: &[Program] = &[nfs3::PROGRAM, mount::PROGRAM, portmap::PROGRAM, nlm::PROGRAM];
