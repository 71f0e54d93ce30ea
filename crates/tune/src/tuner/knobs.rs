//! Settings that change while connections live: new ones get them at once, live ones as far as the kernel allows.

use super::{Settings, Tuner};
use crate::budget::Budget;
use crate::sizes::{Algorithm, Setting, SizeChange};

impl<K: Ord + Copy> Tuner<K> {
    /// What it goes by.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Another send buffer for each connection: what to set on which sockets.
    pub fn set_send_buffer(&mut self, setting: Setting) -> Vec<(K, SizeChange)> {
        self.settings.send_buffer = setting;
        self.on_settings()
    }

    /// Another receive buffer. A smaller one is offered from now on, and had when what was promised is used up.
    pub fn set_receive_buffer(&mut self, setting: Setting) -> Vec<(K, SizeChange)> {
        self.settings.receive_buffer = setting;
        self.on_settings()
    }

    /// Another budget for all, or what the host's memory makes of it. If more is promised than a smaller one has room for,
    /// it is taken back with the next looks at the memory.
    pub fn set_memory_budget(&mut self, setting: Setting) -> Vec<(K, SizeChange)> {
        self.settings.budget = Budget::set(setting, &self.settings.memory);
        self.on_settings()
    }

    /// Another congestion control for each connection, or whatever suits its peer. A connection that began with one that
    /// paces stays paced.
    pub fn set_congestion(&mut self, algorithm: Setting<Algorithm>) -> Vec<(K, SizeChange)> {
        (self.settings.congestion, self.is_congestion_set) = (algorithm, true);
        let follow = self.connections.iter().filter(|(_, connection)| connection.own().congestion.is_none());
        follow.map(|(key, _)| (*key, SizeChange::Congestion(algorithm))).collect()
    }

    fn on_settings(&mut self) -> Vec<(K, SizeChange)> {
        let shares: Vec<_> =
            self.connections.iter().map(|(key, one)| (*key, self.share(one.client()))).collect();
        let mut orders = Vec::new();
        for (key, share) in shares {
            if let Some(connection) = self.connections.get_mut(&key) {
                let changes = connection.on_settings(&self.settings, &share);
                orders.extend(changes.into_iter().map(|change| (key, change)));
            }
        }
        self.count();
        orders
    }
}
