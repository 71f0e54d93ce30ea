//! Recording the calls of a running server: asks for them again and again, and writes them down. Prints nothing but how far it is.

mod recording;
mod session;
mod writing;

pub use recording::CaptureRecording;
pub use session::capture;
pub use writing::RecordOutput;
