//! The server over a tiny state machine.

mod faults;
mod garbage;
mod grpc;
mod restart;
mod rpc;
mod shapes;
mod support;
mod websocket;
