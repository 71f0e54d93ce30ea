//! The cases, by what they are about. A topic knows the bench and the expectations, never another topic.

mod attributes;
mod change;
mod copies;
mod create;
mod data;
mod directory;
mod exclusive;
mod guard;
mod holes;
mod limits;
mod link;
mod lookup;
mod names;
mod ownership;
mod paging;
mod permissions;
mod ranges;
mod remove;
mod rename;
mod rename_refused;
mod setting;
mod special;
mod stability;
mod stale;
mod sticky;
mod symbolic_link;
mod time_setting;
mod xattrs;

use super::case::Case;

/// All topics.
pub(super) const TOPICS: &[&[Case]] = &[
    attributes::CASES,
    lookup::CASES,
    names::CASES,
    create::CASES,
    exclusive::CASES,
    data::CASES,
    holes::CASES,
    ranges::CASES,
    copies::CASES,
    stability::CASES,
    directory::CASES,
    paging::CASES,
    remove::CASES,
    rename::CASES,
    rename_refused::CASES,
    link::CASES,
    symbolic_link::CASES,
    special::CASES,
    setting::CASES,
    time_setting::CASES,
    guard::CASES,
    permissions::CASES,
    ownership::CASES,
    sticky::CASES,
    xattrs::CASES,
    change::CASES,
    stale::CASES,
    limits::CASES,
];
