//! Servers that are quick as a rule and slow at times: what ratcheted the timer of 2003 down.

use std::time::Duration;

use howdah_link::{Delay, Path};
use howdah_rpc::client::Class;
use howdah_rpc::client::datagram::{ClassReport, Settings};
use howdah_rpc::simulation::{Load, Reader, Repeats, Server, Simulation};

use crate::setup;
use crate::small::Small;

/// A quick path: what takes time is the server.
fn simulation(server: Server) -> Simulation {
    let path = || Path::new().then(Delay::new(Duration::from_micros(20)));
    let settings = Settings { first_transfer: Some(8192), receive_room: 8 << 20, ..Settings::default() };
    setup::simulation(settings, path(), path(), server)
}

/// 99 % of calls are answered in 0.1 ms, 1 % in 300 ms.
fn mixed() -> Server {
    let mut server = Server::quick(Duration::from_micros(100));
    (server.rare, server.rarely) = (Duration::from_millis(300), 0.01);
    server
}

fn class(simulation: &Simulation, class: Class) -> ClassReport {
    simulation.report().classes.into_iter().find(|report| report.class == class).expect("calls were made")
}

/// Runs for ten seconds and then to the end; calls and retransmissions of the second part.
fn after_ten_seconds(simulation: &mut Simulation, load: &mut impl Load, of: Class) -> (u64, u64) {
    simulation.run(load, Duration::from_secs(10));
    let before = class(simulation, of);
    simulation.run(load, Duration::from_secs(1000));
    let after = class(simulation, of);
    println!("{before:?}\n{after:?}");
    (after.calls - before.calls, after.retransmissions - before.retransmissions)
}

#[test]
fn small_calls_of_which_one_in_a_hundred_is_slow() {
    for repeats in [Repeats::Anew, Repeats::Quick] {
        // Long enough for a raised floor to end, if it were not raised again.
        for (at_once, seconds) in [(1, 90), (16, 15)] {
            let mut server = mixed();
            server.repeats = repeats;
            let mut simulation = simulation(server);
            let mut load = Small::new(at_once, Duration::from_secs(seconds));
            let (calls, again) = after_ten_seconds(&mut simulation, &mut load, Class::Attributes);
            println!("{at_once} at once: {again} of {calls} sent again");
            assert!(calls > 20_000);
            assert!(again * 1000 < calls, "{again} of {calls} sent again");
            assert!(class(&simulation, Class::Attributes).timeout >= Duration::from_millis(300));
        }
    }
}

#[test]
fn reads_of_which_one_in_a_hundred_is_slow_are_hardly_ever_sent_twice_and_stay_large() {
    let mut simulation = simulation(mixed());
    let mut reader = Reader::new(1 << 30, 16);
    simulation.run(&mut reader, Duration::from_secs(10));
    let before = class(&simulation, Class::Read);
    simulation.run(&mut reader, Duration::from_secs(15));
    let report = class(&simulation, Class::Read);
    println!("{before:?}\n{report:?}, {} given back", reader.given_back);
    assert!(report.calls > 20_000);
    // Until the first one that seemed to be lost is answered after all, and teaches patience.
    let early = before.retransmissions + u64::from(reader.given_back);
    assert!(early * 500 < before.calls, "{early} taken for lost");
    assert_eq!(report.retransmissions, before.retransmissions);
    assert_eq!(simulation.peer.transfer_size(), 8192);
}

#[test]
fn a_silent_server_is_asked_ever_less_and_served_at_once_when_it_is_back() {
    let mut server = Server::quick(Duration::from_millis(1));
    server.down = Duration::from_secs(1)..Duration::from_secs(31);
    let mut simulation = simulation(server);
    let mut load = Small::new(16, Duration::from_secs(75));
    simulation.run(&mut load, Duration::from_secs(8));
    let early = class(&simulation, Class::Attributes).retransmissions;
    simulation.run(&mut load, Duration::from_secs(31));
    let late = class(&simulation, Class::Attributes).retransmissions;
    println!("{early} sent again at first, {late} in all");
    // Doubling from 0.2 s, 7 s hold five rounds and 30 s seven; by then the window is at its least.
    assert!(early <= 16 * 2, "{early} sent again in the first seconds");
    assert!(late - early <= 4, "{} sent again in the later seconds", late - early);
    simulation.run(&mut load, Duration::from_secs(200));
    let back = load.answered.iter().find(|(at, _)| *at > Duration::from_secs(31)).expect("an answer").0;
    assert!(back < Duration::from_secs(60), "the first answer came after {back:?}");
    let soon =
        load.answered.iter().filter(|(at, _)| (back..back + Duration::from_secs(1)).contains(at)).count();
    assert!(soon > 1000, "{soon} answers in the first second");
    assert_eq!(simulation.peer.transfer_size(), 8192, "silence is no loss of fragments");
}
