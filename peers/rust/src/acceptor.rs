//! What the peer does with the streams that the other side opens: as their first line says, or what a benchmark measures.

use std::{
    io,
    sync::{Arc, atomic::AtomicUsize},
};

use futures::{
    AsyncBufReadExt, AsyncWriteExt,
    io::{BufReader, copy, sink},
};
use tokio::sync::mpsc::UnboundedSender;

use crate::{
    messages::{self, Arrivals},
    muxer::{Muxer, Stream},
    requests,
    stream::{PACE_BYTES, how_it_ends, read_paced, send_pattern},
};

/// Whose a stream is.
#[derive(Clone)]
pub enum Receiver {
    /// Told how streams of job `hang` ended.
    Jobs(UnboundedSender<String>),
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

    async fn take(self, stream: Stream) -> io::Result<()> {
        match self {
            Self::Jobs(ends) => do_job(stream, ends).await,
            Self::Messages {
                unit_bytes,
                arrivals,
            } => messages::verify(stream, unit_bytes, arrivals).await,
            Self::Requests {
                message_bytes,
                position,
            } => requests::answer(stream, message_bytes, position).await,
        }
    }
}

pub async fn accept<M: Muxer>(stream: Stream, receiver: Receiver) {
    let taken = async { receiver.take(M::agree(stream, false).await?).await };

    if let Err(error) = taken.await {
        eprintln!("a stream failed: {error}");
    }
}

async fn do_job(stream: Stream, ends: UnboundedSender<String>) -> io::Result<()> {
    // a job line and what follows it may come together
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = words
        .get(1)
        .map_or(0, |word| word.parse().expect("a number"));

    match words.first().copied().unwrap_or_default() {
        "echo" => echo(stream).await,
        "hash" => {
            let digest = read_paced(&mut stream, usize::MAX, number).await?;
            stream.get_mut().write_all(&digest).await?;
            stream.close().await
        }
        "source" => {
            let digest = send_pattern(stream.get_mut(), number, PACE_BYTES).await?;
            stream.get_mut().write_all(&digest).await?;
            stream.close().await?;
            copy(stream, &mut sink()).await.map(drop)
        }
        // sends before it reads, as the opener does
        "exchange" => {
            let sent_digest = send_pattern(stream.get_mut(), number, PACE_BYTES).await?;
            stream.get_mut().flush().await?;
            let read_digest = read_paced(&mut stream, usize::MAX, 0).await?;
            stream
                .get_mut()
                .write_all(&[sent_digest, read_digest].concat())
                .await?;
            stream.close().await
        }
        "hang" => {
            let mut stream = stream.into_inner();
            stream.write_all(&[1]).await?;
            stream.flush().await?;
            let how = how_it_ends(&mut stream).await;
            ends.send(how).map_err(io::Error::other)
        }
        // dropped before its end: the only way to reset a stream
        "reset" => Ok(()),
        job => Err(io::Error::other(format!("there is no job {job}"))),
    }
}

async fn echo(mut stream: BufReader<Stream>) -> io::Result<()> {
    loop {
        let bytes = stream.fill_buf().await?.to_vec();

        if bytes.is_empty() {
            return stream.close().await;
        }

        stream.consume_unpin(bytes.len());
        stream.get_mut().write_all(&bytes).await?;
        stream.get_mut().flush().await?;
    }
}
