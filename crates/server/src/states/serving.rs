//! Clients that move from one head of a cluster to another, with the addresses that they call.

use std::io;
use std::net::IpAddr;

use howdah_state::StateError;

use super::head_records::calls;
use super::states::States;

impl States {
    /// Clients call this address of ours. If it moves between heads, and another one had it, its clients may reclaim here what they had there, from now on.
    ///
    /// # Errors
    /// [`StateError::Delay`]: it is not known yet who they are.
    pub fn serve_address(&self, address: IpAddr) -> Result<(), StateError> {
        let (Some(cluster), address) = (self.cluster(), address.to_canonical()) else { return Ok(()) };
        let took = cluster.serve(
            address,
            || self.let_go_files(),
            |taken| {
                let (outcome, done) = self.run(|state, now| {
                    state.take_over(now, taken);
                    Ok(())
                });
                self.settle(done);
                outcome.map_err(|_| io::Error::other("the record of clients cannot be written"))
            },
        );
        if took.map_err(|_| StateError::Delay)? {
            cluster.add_untold(self.hosts_to_notify().into_iter().filter(|host| host.server == address));
        }
        Ok(())
    }

    /// Looks whether other heads have taken addresses of this one: their clients have nothing here any more. Which ones.
    pub fn leave_lost_addresses(&self) -> Vec<IpAddr> {
        let Some(cluster) = self.cluster() else { return Vec::new() };
        cluster.leave_lost(|lost| {
            if !lost.is_empty() {
                self.let_go_files();
            }
            for &address in lost {
                tracing::warn!(%address, "another head serves this address now: its clients have no opens and locks here any more");
                let _ = self.ask(|state, now| {
                    state.leave_server(now, address, |host| calls(host, address));
                    Ok(())
                });
            }
        })
    }

    fn let_go_files(&self) {
        if let Some(mirror) = &self.mirror {
            mirror.let_go();
        }
    }
}
