//! NSM as clients see it, and which clients get a notice of a restart. What NOTIFY frees is tested with NLM.

use howdah_wire::nsm::{
    Monitor, MonitorName, Monitored, MonitoringResult, PROGRAM, VERSION, mon, stat, unmon_all,
};

use super::notice::{Notices, names};
use crate::Transport;
use crate::calling::peer;
use crate::limits::NOTICES_MAX;
use crate::result_of;
use crate::service::Service;
use crate::states::LockHost;

#[test]
fn it_monitors_for_nobody() {
    let service = Service::new(Default::default());
    let client = peer("192.0.2.9:701", "192.0.2.1:2049", Transport::Udp);
    let state = service.states.as_ref().expect("locks").host_number();
    assert_eq!(state % 2, 1, "the number of a host that is up");
    let refused = stat::Reply { result: MonitoringResult::Failure, state };
    let name = MonitorName(b"host");
    let what = |procedure| (PROGRAM, VERSION, procedure);
    let answer = result_of!(stat::Reply, &service, &client, what(stat::PROCEDURE), &stat::Arguments { name });
    assert_eq!(answer, refused);
    let by = Monitor { name, program: 100_021, version: 4, procedure: 16 };
    let arguments = mon::Arguments { monitored: Monitored { name, by }, private: [0; 16] };
    assert_eq!(result_of!(mon::Reply, &service, &client, what(mon::PROCEDURE), &arguments), refused);
    let arguments = unmon_all::Arguments { by };
    let answer = result_of!(unmon_all::Reply, &service, &client, what(unmon_all::PROCEDURE), &arguments);
    assert_eq!(answer, unmon_all::Reply { state });
}

fn host(number: usize) -> LockHost {
    let address = |text: &str| text.parse().expect("an address");
    let name = number.to_string().into_bytes().into();
    LockHost { name, client: address("192.0.2.9"), server: address("192.0.2.1") }
}

#[test]
fn hosts_past_the_last_are_not_told() {
    let notices = Notices::new(3, 111);
    notices.tell((0..NOTICES_MAX + 2).map(host).collect());
    let notified: Vec<LockHost> = std::iter::from_fn(|| notices.pop()).map(|notice| notice.host).collect();
    assert_eq!((notified.len(), notified.last()), (NOTICES_MAX, Some(&host(NOTICES_MAX - 1))));
}

#[test]
fn clients_that_are_off_keep_no_other_from_reclaiming_in_time() {
    // One that is off takes a thread some 4 s: its portmapper does not answer. All have a lease to reclaim.
    let (off, lease) = (4, 90);
    for clients in 0..=1_000_usize {
        let threads = Notices::threads_for(clients);
        assert!(clients.div_ceil(threads) * off < lease, "{clients} clients, {threads} threads");
        assert!(threads <= clients.max(2), "{clients} clients, {threads} threads");
    }
}

#[test]
fn clients_are_told_every_name_that_they_may_know() {
    let names = names(host(0).server);
    assert_eq!(names[0], "192.0.2.1");
    assert!(names.len() >= 2 && names.iter().all(|name| !name.is_empty()), "{names:?}");
}
