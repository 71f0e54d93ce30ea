//! A way to a server on which answers get lost, each with its connection; the next connection may lead to another server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use howdah_wire::nfs3;

use crate::trust::middleman::{Fate, Middleman};
use howdah_random::Random;

/// The way.
pub struct Losing {
    middleman: Arc<Middleman>,
    losses: Arc<AtomicU64>,
}

impl Losing {
    /// To the first of these servers, and after each loss to the next. `lost` is called before the client can know.
    pub fn before(
        servers: Vec<SocketAddr>,
        one_in: u64,
        mut random: Random,
        lost: impl Fn() + Send + 'static,
    ) -> Self {
        let (middleman, losses) = (Arc::new(Middleman::before(servers[0])), Arc::new(AtomicU64::new(0)));
        let (way, count) = (Arc::clone(&middleman), Arc::clone(&losses));
        middleman.judge(move |exchange| {
            if exchange.program != nfs3::PROGRAM || !random.one_in(one_in) {
                return Fate::Pass;
            }
            let losses = count.fetch_add(1, Ordering::Relaxed) + 1;
            way.lead_to(servers[losses as usize % servers.len()]);
            lost();
            Fate::Lose
        });
        Self { middleman, losses }
    }

    /// Where it begins.
    pub fn address(&self) -> SocketAddr {
        self.middleman.address
    }

    /// How many answers were lost.
    pub fn losses(&self) -> u64 {
        self.losses.load(Ordering::Relaxed)
    }
}

impl Drop for Losing {
    fn drop(&mut self) {
        // The way outlives us in its own threads; what its judge holds, itself and a territory, must not.
        self.middleman.judge(|_| Fate::Pass);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_is_done_with_holds_nothing() {
        let (territory, nowhere) = (Arc::new(()), SocketAddr::from(([127, 0, 0, 1], 9)));
        let disturbed = Arc::clone(&territory);
        let way = Losing::before(vec![nowhere], 1, Random::new(1), move || drop(Arc::clone(&disturbed)));
        let middleman = Arc::clone(&way.middleman);
        drop(way);
        assert_eq!(Arc::strong_count(&territory), 1);
        assert_eq!(Arc::strong_count(&middleman), 1);
    }
}
