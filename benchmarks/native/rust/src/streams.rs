//! What both scenarios share: who receives, how a stream is closed, what keeps a core awake.

use std::{
    io,
    sync::{Arc, atomic::AtomicUsize},
};

use futures::{AsyncReadExt, AsyncWriteExt, future::try_join_all};
use tokio::task::{JoinHandle, yield_now};
use yamux::Stream;

use crate::{
    messages::{self, Arrivals},
    requests,
};

/// What is done with the streams that the other side opens.
#[derive(Default)]
pub enum Receiver {
    #[default]
    Nobody,
    Messages {
        unit_bytes: usize,
        arrivals: Arc<Arrivals>,
    },
    Requests {
        message_bytes: usize,
        position: Arc<AtomicUsize>,
    },
}

impl Receiver {
    pub fn messages(streams: usize, unit_bytes: usize) -> Self {
        Self::Messages {
            unit_bytes,
            arrivals: Arc::new(Arrivals::on(streams)),
        }
    }

    pub fn requests(message_bytes: usize) -> Self {
        Self::Requests {
            message_bytes,
            position: Arc::default(),
        }
    }

    pub fn accept(&self, stream: Stream) {
        match self {
            Self::Nobody => drop(stream),
            Self::Messages {
                unit_bytes,
                arrivals,
            } => spawn_reported(messages::verify(stream, *unit_bytes, arrivals.clone())),
            Self::Requests {
                message_bytes,
                position,
            } => spawn_reported(requests::answer(stream, *message_bytes, position.clone())),
        }
    }
}

fn spawn_reported(work: impl Future<Output = io::Result<()>> + Send + 'static) {
    tokio::spawn(async {
        if let Err(error) = work.await {
            eprintln!("{error}");
        }
    });
}

/// Closes this side and waits until the other side has closed as well.
pub async fn close_fully(mut stream: Stream) -> io::Result<()> {
    stream.close().await?;

    match stream.read(&mut [0]).await? {
        0 => Ok(()),
        _ => Err(io::Error::other("the receiver sent what nobody asked for")),
    }
}

pub async fn close_all(streams: impl IntoIterator<Item = Stream>) -> io::Result<()> {
    try_join_all(streams.into_iter().map(close_fully))
        .await
        .map(drop)
}

/// Keeps a core from falling asleep between requests, as `scenarios/requests.ts` does.
pub struct KeepAwake(JoinHandle<()>);

impl KeepAwake {
    pub fn start() -> Self {
        Self(tokio::spawn(async {
            loop {
                yield_now().await;
            }
        }))
    }
}

impl Drop for KeepAwake {
    fn drop(&mut self) {
        self.0.abort();
    }
}
