//! Answers the lines that `../../README.md` describes, for any muxer.

mod acceptor;
mod commands;
mod connection;
mod messages;
mod muxer;
mod opener;
mod pattern;
mod requests;
mod work;

pub use crate::{
    commands::serve,
    muxer::{Endpoint, Muxer, ReadWrite, Stream},
    work::count_socket_write,
};
