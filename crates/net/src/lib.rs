//! The outside world of sockets: the only crate that opens one.
//!
//! It knows TCP, UDP, QUIC, Unix sockets and readiness, and moves bytes between sockets, memory and files; it makes network namespaces and
//! interfaces. It knows nothing of what the bytes mean.

mod address;
mod buffers;
mod congestion;
mod connect;
mod echo;
mod end;
mod host;
mod interface_counters;
mod interface_events;
mod interface_hardware;
mod interfaces;
mod listener;
mod local_socket;
mod namespace;
mod own_addresses;
mod own_sysfs;
mod path_mtu;
mod peer;
mod poller;
mod quic;
mod retransmission;
mod rpcbind;
mod sample;
mod secure_connection;
mod secured;
mod socket_list;
mod splice;
mod stream;
mod syscall;
mod tcp_info;
mod timed_socket;
mod transfer;
mod tun;
mod udp;
mod udp_client;
mod urgency;
#[cfg(feature = "simulation")]
mod user_space;

pub use address::{canonical, is_local, is_on_this_host};
pub use buffers::apply;
pub use congestion::{allowed_congestion_controls, congestion_controls, may_choose_congestion};
pub use connect::{ConnectSettings, Connecting, Connection, Delivery, Readiness};
pub use echo::{Echo, Echoed, is_too_large};
pub use end::RelayEnd;
pub use host::{memory_limits, memory_of_tcp, probe_buffers, probe_host};
pub use interface_counters::{InterfaceCounters, InterfaceTraffic, carried_here, interface_counters};
pub use interface_events::{Heard, InterfaceEvents};
pub use interface_hardware::{Hardware, Ring, hardware, set_rings};
pub use interfaces::{Interface, interfaces};
pub use listener::Listener;
pub use local_socket::{LocalListener, connect_local, remove_if_dead};
pub use namespace::{Namespace, with_no_signal_blocked};
pub use own_addresses::OwnAddresses;
pub use own_sysfs::own_sysfs;
pub use path_mtu::{own_address, path_mtu};
pub use peer::{Ends, Peer, Transport, TransportSecurity};
pub use poller::{Interest, Poller, Ready, Token, Waker};
pub use quic::{
    ConnectionFacts, EngineSecret, QuicDialer, QuicLane, QuicListener, QuicPort, QuicSocketFacts,
};
pub use rpcbind::{RpcbindStream, is_listening};
pub use sample::sample;
pub use socket_list::{SocketList, TcpSocket};
pub use splice::{Pipe, Spliced};
pub use stream::Stream;
pub use syscall::{give_large_blocks_back, give_memory_back, host_name};
pub use tcp_info::{SocketMemory, TcpInfo};
pub use timed_socket::TimedSocket;
pub use transfer::{Place, Sent, Wait};
pub use tun::{Offloads, Tun};
pub use udp::{Datagram, UdpSocket};
pub use udp_client::UdpClient;
pub use urgency::Urgency;
