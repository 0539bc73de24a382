//! Opens streams, and what the peer does on them, each for one job of the other side.

use std::io;

use futures::{
    AsyncReadExt, AsyncWriteExt,
    future::{BoxFuture, try_join_all},
};
use tokio::sync::{mpsc, oneshot};

use crate::{
    muxer::Stream,
    pattern::{bytes_at, start_of_stream},
    stream::{
        PACE_BYTES, close_all, close_fully, expect_rest, expect_same, how_it_ends, read_paced,
        send_pattern,
    },
};

/// What the task that drives the muxer is asked for.
pub enum Request {
    Open(oneshot::Sender<io::Result<Stream>>),
    Close,
}

#[derive(Clone)]
pub struct Opener {
    pub requests: mpsc::UnboundedSender<Request>,
    pub agree: fn(Stream, bool) -> BoxFuture<'static, io::Result<Stream>>,
}

impl Opener {
    pub async fn open(&self) -> io::Result<Stream> {
        let (sender, receiver) = oneshot::channel();
        let gone = |_| io::Error::other("the connection is closed");
        self.requests
            .send(Request::Open(sender))
            .map_err(|_| gone(()))?;
        let stream = receiver.await.map_err(|_| gone(()))??;

        (self.agree)(stream, true).await
    }

    /// Tells the receiver which bytes to expect.
    pub async fn open_indexed(&self, index: usize) -> io::Result<Stream> {
        let mut stream = self.open().await?;
        let index = u32::try_from(index).map_err(io::Error::other)?;
        stream.write_all(&index.to_be_bytes()).await?;
        stream.flush().await?;

        Ok(stream)
    }
}

async fn open(opener: &Opener, job: &str) -> io::Result<Stream> {
    let mut stream = opener.open().await?;
    stream.write_all(format!("{job}\n").as_bytes()).await?;
    stream.flush().await?;

    Ok(stream)
}

/// All streams are open at once before the first one is closed.
pub async fn echo_all(opener: &Opener, streams: usize, bytes: usize) -> io::Result<()> {
    let echoed = (0..streams).map(|index| open_echo(opener, index, bytes));

    close_all(try_join_all(echoed).await?).await
}

/// A stream that has given back what was sent.
async fn open_echo(opener: &Opener, index: usize, bytes: usize) -> io::Result<Stream> {
    let mut stream = open(opener, "echo").await?;
    let sent = bytes_at(start_of_stream(index), bytes);
    stream.write_all(sent).await?;
    stream.flush().await?;

    let mut received = vec![0; bytes];
    stream.read_exact(&mut received).await?;
    expect_same(&received, sent)?;

    Ok(stream)
}

pub async fn send(
    opener: &Opener,
    bytes: usize,
    piece_bytes: usize,
    pause_ms: usize,
) -> io::Result<()> {
    let mut stream = open(opener, &format!("hash {pause_ms}")).await?;
    let digest = send_pattern(&mut stream, bytes, piece_bytes).await?;

    close_fully(stream, &digest).await
}

pub async fn receive(opener: &Opener, bytes: usize, pause_ms: usize) -> io::Result<()> {
    let mut stream = open(opener, &format!("source {bytes}")).await?;
    stream.close().await?;
    let digest = read_paced(&mut stream, bytes, pause_ms).await?;

    expect_rest(&mut stream, &digest).await
}

/// Sends so many bytes before it reads any, as the other side does, and reads the SHA-256 of both behind what that sent.
pub async fn exchange(opener: &Opener, bytes: usize) -> io::Result<()> {
    let mut stream = open(opener, &format!("exchange {bytes}")).await?;
    let sent_digest = send_pattern(&mut stream, bytes, PACE_BYTES).await?;
    stream.close().await?;
    let received_digest = read_paced(&mut stream, bytes, 0).await?;

    expect_rest(&mut stream, &[received_digest, sent_digest].concat()).await
}

/// A stream that the other side has and does nothing with.
pub async fn hanging(opener: &Opener) -> io::Result<Stream> {
    let mut stream = open(opener, "hang").await?;
    stream.read_exact(&mut [0]).await?;

    Ok(stream)
}

pub async fn be_reset(opener: &Opener, code: usize) -> io::Result<String> {
    let mut stream = open(opener, &format!("reset {code}")).await?;

    Ok(how_it_ends(&mut stream).await)
}
