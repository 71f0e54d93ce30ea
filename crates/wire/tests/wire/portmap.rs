//! Portmap and rpcbind: both directions of every message, against themselves and, for portmap, against another
//! implementation.

use std::net::{IpAddr, SocketAddr};

use howdah_wire::portmap::callit::CallData;
use howdah_wire::portmap::{self, Mapping, Protocol};
use howdah_wire::rpcbind::{self, Binding, Text, UniversalAddress};
use howdah_wire::xdr::{Decode, DecodeProblem, Decoder};
use nfs3_types::portmap as theirs;
use nfs3_types::xdr_codec::{List, Opaque, Pack};
use proptest::prelude::*;

fn packed(value: &impl Pack) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.pack(&mut bytes).expect("a vector takes everything");
    bytes
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..=most)
}

prop_compose! {
    fn a_mapping()([program, version, protocol, port] in any::<[u32; 4]>()) -> Mapping {
        Mapping { program, version, protocol: Protocol(protocol), port }
    }
}

fn their(mapping: Mapping) -> theirs::mapping {
    let Mapping { program, version, protocol, port } = mapping;
    theirs::mapping { prog: program, vers: version, prot: protocol.0, port }
}

/// A binding that lives as long as its texts.
fn binding<'a>(numbers: (u32, u32), texts: &'a [Vec<u8>; 3]) -> Binding<'a> {
    let [network, address, owner] = texts.each_ref().map(|text| Text(text));
    Binding { program: numbers.0, version: numbers.1, network, address, owner }
}

fn texts() -> impl Strategy<Value = [Vec<u8>; 3]> {
    [bytes(6), bytes(20), bytes(9)]
}

proptest! {
    #[test]
    fn mappings(mapping in a_mapping(), done: bool, port: u32) {
        let same = packed(&their(mapping));
        prop_assert_eq!(&comes_back!(portmap::set::Arguments, portmap::set::Arguments { mapping }), &same);
        prop_assert_eq!(&comes_back!(portmap::unset::Arguments, portmap::unset::Arguments { mapping }), &same);
        prop_assert_eq!(&comes_back!(portmap::getport::Arguments, portmap::getport::Arguments { mapping }), &same);
        prop_assert_eq!(comes_back!(portmap::set::Reply, portmap::set::Reply { done }), packed(&done));
        prop_assert_eq!(comes_back!(portmap::unset::Reply, portmap::unset::Reply { done }), packed(&done));
        prop_assert_eq!(comes_back!(portmap::getport::Reply, portmap::getport::Reply { port }), packed(&port));
    }

    #[test]
    fn lists_of_mappings(mappings in prop::collection::vec(a_mapping(), 0..6)) {
        let same = List(mappings.iter().copied().map(their).collect());
        prop_assert_eq!(comes_back!(portmap::dump::Reply, portmap::dump::Reply { mappings }), packed(&same));
    }

    #[test]
    fn calls_to_pass_on([program, version, procedure, port] in any::<[u32; 4]>(), data in bytes(30)) {
        let ours = portmap::callit::Arguments { program, version, procedure, arguments: CallData(&data) };
        let args = Opaque::borrowed(&data);
        let same = theirs::call_args { prog: program, vers: version, proc: procedure, args };
        prop_assert_eq!(comes_back!(portmap::callit::Arguments<'_>, ours), packed(&same));
        let ours = portmap::callit::Reply { port, result: CallData(&data) };
        let same = theirs::call_result { port, res: Opaque::borrowed(&data) };
        prop_assert_eq!(comes_back!(portmap::callit::Reply<'_>, ours), packed(&same));
        comes_back!(rpcbind::broadcast::Reply<'_>, rpcbind::broadcast::Reply { address: Text(&data), result: CallData(&data) });
    }

    #[test]
    fn bindings(numbers: (u32, u32), texts in texts(), done: bool) {
        let binding = binding(numbers, &texts);
        let ours = comes_back!(rpcbind::set::Arguments<'_>, rpcbind::set::Arguments { binding });
        prop_assert_eq!(&ours, &comes_back!(rpcbind::unset::Arguments<'_>, rpcbind::unset::Arguments { binding }));
        prop_assert_eq!(&ours, &comes_back!(rpcbind::getaddr::Arguments<'_>, rpcbind::getaddr::Arguments { binding }));
        prop_assert_eq!(
            &ours,
            &comes_back!(rpcbind::getaddrlist::Arguments<'_>, rpcbind::getaddrlist::Arguments { binding })
        );
        // The RFC's `rpcb` by hand: two words and three strings.
        let mut by_hand = packed(&numbers.0);
        by_hand.extend(packed(&numbers.1));
        texts.iter().for_each(|text| by_hand.extend(packed(&Opaque::borrowed(text))));
        prop_assert_eq!(ours, by_hand);
        comes_back!(rpcbind::set::Reply, rpcbind::set::Reply { done });
        comes_back!(rpcbind::unset::Reply, rpcbind::unset::Reply { done });
        comes_back!(rpcbind::getaddr::Reply<'_>, rpcbind::getaddr::Reply { address: binding.address });
    }

    #[test]
    fn lists_of_bindings(list in prop::collection::vec((any::<(u32, u32)>(), texts()), 0..4)) {
        let bindings = list.iter().map(|(numbers, texts)| binding(*numbers, texts)).collect();
        comes_back!(rpcbind::dump::Reply<'_>, rpcbind::dump::Reply { bindings });
        let addresses = list.iter().map(|(numbers, [network, address, owner])| rpcbind::getaddrlist::Address {
            address: Text(address),
            network: Text(network),
            semantics: rpcbind::getaddrlist::Semantics(numbers.0),
            family: Text(owner),
            protocol: Text(network),
        });
        let addresses = addresses.collect();
        comes_back!(rpcbind::getaddrlist::Reply<'_>, rpcbind::getaddrlist::Reply { addresses });
    }

    #[test]
    fn universal_addresses(address: IpAddr, port: u16) {
        let address = UniversalAddress(SocketAddr::new(address, port));
        prop_assert_eq!(UniversalAddress::parse(address.to_string().as_bytes()), Some(address));
    }

    #[test]
    fn noise_is_refused_or_read_but_never_panics(noise in bytes(200)) {
        let _ = UniversalAddress::parse(&noise);
        let decoder = || Decoder::new(&noise);
        let _ = portmap::dump::Reply::decode(&mut decoder());
        let _ = portmap::callit::Arguments::decode(&mut decoder());
        let _ = rpcbind::set::Arguments::decode(&mut decoder());
        let _ = rpcbind::dump::Reply::decode(&mut decoder());
        let _ = rpcbind::getaddrlist::Reply::decode(&mut decoder());
    }
}

#[test]
fn a_text_longer_than_any_is_refused() {
    let mut message = vec![0; 8];
    message.extend(packed(&Opaque::owned(vec![b'x'; 1025])));
    let error =
        rpcbind::set::Arguments::decode(&mut Decoder::new(&message)).expect_err("too long a network id");
    assert_eq!(error.problem, DecodeProblem::TooLong { claimed: 1025, limit: 1024 });
}

#[test]
fn what_callit_carries_is_bounded() {
    let message = [100_003u32, 3, 0, 8801].map(u32::to_be_bytes).concat();
    let error = portmap::callit::Arguments::decode(&mut Decoder::new(&message)).expect_err("too much");
    assert_eq!(error.problem, DecodeProblem::TooLong { claimed: 8801, limit: 8800 });
}
