//! NLM as clients see it, without sockets; calls back are looked at where they are queued.

mod callbacks;
mod client;
mod heads;
mod hosts;
mod local;
mod locks;
mod no_locks;
