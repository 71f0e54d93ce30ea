//! Turns knobs of a running server.

use std::thread::Thread;

use super::cap_knobs;
use super::knob::{Knob, KnobError, KnobName, Turn};
use crate::shared::Shared;

/// Where knobs stand, beyond what the tuner knows; and which thread to wake when one is turned.
pub struct Knobs {
    /// The thread that sizes connections, if there is one.
    sizing: Option<Thread>,
}

impl Knobs {
    /// Of a server whose connections that thread sizes.
    pub fn new(sizing: Option<Thread>) -> Self {
        Self { sizing }
    }

    /// Whether connections are sized at all.
    pub fn are_on(&self) -> bool {
        self.sizing.is_some()
    }

    /// All of them, as they stand.
    pub fn show(&self, shared: &Shared) -> Vec<Knob> {
        let sizes = KnobName::ALL.iter().map(|name| show(*name, shared));
        sizes.chain(cap_knobs::show(&shared.caps)).collect()
    }

    /// Turns one. New connections have it at once; live ones as soon as the sizing thread has passed it on.
    pub fn set(&self, shared: &Shared, name: &str, value: &str) -> Result<Knob, KnobError> {
        if cap_knobs::is_cap(name) {
            cap_knobs::set(&shared.caps, name, value)?;
            tracing::info!(knob = name, value, "set");
            let found = cap_knobs::show(&shared.caps).into_iter().find(|knob| knob.name == name);
            return found.ok_or_else(|| KnobError::Unknown { name: name.to_owned(), known: Vec::new() });
        }
        let name = KnobName::parse(name)?;
        let sizing = self.sizing.as_ref().ok_or(KnobError::Off)?;
        let turn = name.turn(value)?;
        if let Turn::Congestion(algorithm) = turn {
            for listener in &shared.listeners {
                listener.set_congestion(algorithm).map_err(|error| KnobError::Refused {
                    name: name.word().to_owned(),
                    value: value.to_owned(),
                    why: format!("setting it for new connections: {error}"),
                })?;
            }
        }
        let mut tuner = shared.tuner.lock();
        let changes = match turn {
            Turn::SendBuffer(setting) => tuner.set_send_buffer(setting),
            Turn::ReceiveBuffer(setting) => tuner.set_receive_buffer(setting),
            Turn::Congestion(algorithm) => tuner.set_congestion(algorithm),
            Turn::MemoryBudget(bytes) => tuner.set_memory_budget(bytes),
        };
        // Under the tuner's lock, so that what it says next comes behind.
        shared.told.lock().extend(changes);
        drop(tuner);
        shared.sizing.wake();
        sizing.unpark();
        tracing::info!(knob = name.word(), value, "set");
        Ok(show(name, shared))
    }
}

fn show(name: KnobName, shared: &Shared) -> Knob {
    name.show(shared.tuner.lock().settings())
}
