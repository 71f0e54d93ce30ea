//! Whether heads of a cluster are one: each is asked as a client would ask it, and the answers are compared.

mod answers;
mod ask;
mod compare;
mod head;

pub use answers::HeadAnswers;
pub use ask::ask;
pub use compare::compare;
pub use head::ClusterHead;
