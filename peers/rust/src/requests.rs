//! Requests one after the other, on one stream or a new one for each: `scenarios/requests.ts` of the benchmarks.

use std::{
    io::{self, ErrorKind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Instant,
};

use futures::{AsyncReadExt, AsyncWriteExt};

use crate::{
    muxer::Stream,
    opener::Opener,
    pattern::{bytes_at, is_at},
    process::{KeepAwake, ms_since},
    stream::close_all,
};

pub struct RequestSender {
    opener: Opener,
    /// The stream of all requests, if they share one.
    lasting: Option<Stream>,
    message_bytes: usize,
    unit_bytes: usize,
    position: usize,
    _awake: KeepAwake,
}

impl RequestSender {
    pub async fn open(
        opener: &Opener,
        on_one_stream: bool,
        message_bytes: usize,
        unit_bytes: usize,
    ) -> io::Result<Self> {
        let lasting = match on_one_stream {
            true => Some(opener.open().await?),
            false => None,
        };

        Ok(Self {
            opener: opener.clone(),
            lasting,
            message_bytes,
            unit_bytes,
            position: 0,
            _awake: KeepAwake::start(),
        })
    }

    pub async fn work(&mut self, units: usize, latencies_ms: &mut Vec<f64>) -> io::Result<()> {
        for _ in 0..units * self.unit_bytes / self.message_bytes {
            latencies_ms.push(self.request().await?);
        }

        Ok(())
    }

    pub async fn close(self) -> io::Result<()> {
        close_all(self.lasting).await
    }

    /// How long it took.
    async fn request(&mut self) -> io::Result<f64> {
        let request = bytes_at(self.position, self.message_bytes);
        let mut reply = vec![0; self.message_bytes];
        let start = Instant::now();

        let mut opened = match self.lasting {
            Some(_) => None,
            None => Some(self.opener.open().await?),
        };
        let stream = opened
            .as_mut()
            .or(self.lasting.as_mut())
            .expect("one of them");
        stream.write_all(request).await?;
        stream.read_exact(&mut reply).await?;
        let latency_ms = ms_since(start);

        if let Some(mut stream) = opened {
            stream.close().await?;
        }

        if !is_at(self.position, &reply) {
            return Err(io::Error::other("the reply differs from the request"));
        }

        self.position += self.message_bytes;
        Ok(latency_ms)
    }
}

/// Sends back what it reads, message by message.
pub async fn answer(
    mut stream: Stream,
    message_bytes: usize,
    position: Arc<AtomicUsize>,
) -> io::Result<()> {
    let mut request = vec![0; message_bytes];

    loop {
        match stream.read_exact(&mut request).await {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return stream.close().await,
            result => result?,
        }

        if !is_at(position.fetch_add(message_bytes, Relaxed), &request) {
            return Err(io::Error::other("the request has wrong bytes"));
        }

        stream.write_all(&request).await?;
    }
}
