//! Plans: an experiment as a file. Read, checked, its cells expanded in a fixed order with a seed each; what it claims is
//! judged by rows. It knows nothing of how a cell is run.

mod built_in;
mod cell;
mod claim;
mod definition;
mod error;
mod expand;
mod factor;
mod file;
mod judge;
mod known;
mod left_out;
mod level_key;
mod merge;
mod netem;
mod origin;
mod quick;
mod serving;
mod shown;
#[cfg(test)]
pub(crate) mod testing;
mod time;
mod validate;

pub use built_in::BUILT_IN;
pub use cell::{
    CellSetting, CellSpec, ClientKind, ClientSpec, ClientVersion, HostPlan, RelaySpec, SampleSpec,
    VerdictSpec, WirePlan,
};
pub use claim::{Claim, Of, PathFigure};
pub use definition::Plan;
pub use error::PlanError;
pub use expand::{Cell, seed};
pub use factor::{Factor, Level};
pub use judge::{ClaimJudgement, judge};
pub use left_out::LeftOut;
pub use netem::Netem;
pub use origin::OriginFigure;
pub use serving::{ExportKind, FailoverSpec, HeadLoss, ServerKind, ServerSpec};
pub use shown::{FigureKind, FigureSpec};
pub use time::Time;
