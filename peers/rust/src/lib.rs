//! Answers the lines that `../../README.md` describes, for any muxer.

mod acceptor;
mod bulk_and_urgent;
mod commands;
mod connection;
mod messages;
mod muxer;
mod opener;
mod pattern;
mod process;
mod requests;
mod stream;
mod work;

pub use crate::{
    commands::serve,
    muxer::{Endpoint, Muxer, ReadWrite, Stream},
    process::count_socket_write,
};
