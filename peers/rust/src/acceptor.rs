//! What the peer does with the streams that the other side opens: their first line names the job.

use std::io;

use futures::{
    AsyncBufReadExt, AsyncWriteExt,
    io::{BufReader, copy, sink},
};
use tokio::sync::mpsc::UnboundedSender;

use crate::{Muxer, PACE_BYTES, Stream, how_it_ends, read_paced, send_pattern};

pub async fn accept<M: Muxer>(stream: Stream, end: UnboundedSender<String>) {
    if let Err(error) = work::<M>(stream, end).await {
        eprintln!("a job failed: {error}");
    }
}

async fn work<M: Muxer>(stream: Stream, end: UnboundedSender<String>) -> io::Result<()> {
    // a job line and what follows it may come together
    let mut stream = BufReader::new(M::agree(stream, false).await?);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = words
        .get(1)
        .map_or(0, |word| word.parse().expect("a number"));

    match words.first().copied().unwrap_or_default() {
        "echo" => echo(stream).await,
        "hash" => {
            let digest = read_paced(&mut stream, u64::MAX, number).await?;
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
            let read_digest = read_paced(&mut stream, u64::MAX, 0).await?;
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
            end.send(how).map_err(io::Error::other)
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
