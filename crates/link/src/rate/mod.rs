//! Lines: how fast they send, and what waits for them.

mod constant;
mod line;
mod opportunities;
mod pace;
mod steps;

pub use constant::Constant;
pub use line::Rate;
pub use opportunities::{OPPORTUNITY_BYTES, Opportunities};
pub use pace::Pace;
pub use steps::Steps;
