//! The laboratory: plans of cells, the networks and programs they need, and reports of what was measured.

pub mod guest;
pub mod network;
pub mod plan;
pub mod record;
pub mod report;
pub mod run;
pub mod sample;
pub mod sandbox;
pub mod simulation;
