//! Messages of one size on one or many streams: `scenarios/messages.ts` of the benchmarks.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex},
};

use futures::{
    AsyncReadExt, AsyncWriteExt,
    future::{join_all, try_join_all},
    io::{ReadHalf, WriteHalf},
};
use tokio::sync::watch;

use crate::{
    muxer::Stream,
    opener::Opener,
    pattern::{bytes_at, is_at, start_of_stream},
    stream::close_all,
};

const READ_BYTES: usize = 64 * 1024;

pub struct MessageSender {
    lanes: Vec<Lane>,
    message_bytes: usize,
    unit_bytes: usize,
}

/// A stream and how far it has come.
struct Lane {
    stream: Stream,
    position: usize,
    confirmed_bytes: usize,
}

impl MessageSender {
    pub async fn open(
        opener: &Opener,
        streams: usize,
        message_bytes: usize,
        unit_bytes: usize,
    ) -> io::Result<Self> {
        let lanes = try_join_all((0..streams).map(|index| Lane::open(opener, index))).await?;

        Ok(Self {
            lanes,
            message_bytes,
            unit_bytes,
        })
    }

    /// A task for each stream, so that one without credit stops no other.
    pub async fn work(&mut self, units: usize) -> io::Result<()> {
        let (message_bytes, unit_bytes) = (self.message_bytes, self.unit_bytes);
        let (confirmed, _) = watch::channel(0);
        let confirmed = Arc::new(confirmed);
        let working = self.lanes.drain(..).enumerate().map(|(index, mut lane)| {
            let confirmed = confirmed.clone();

            tokio::spawn(async move {
                for unit in 0..units {
                    lane.write(message_bytes, unit_bytes).await?;

                    // two units are under way at any time
                    if unit > 0 {
                        lane.wait(index, unit, unit_bytes, &confirmed).await?;
                    }
                }

                if index == 0 {
                    lane.confirm(unit_bytes).await?;
                }

                io::Result::Ok(lane)
            })
        });

        for lane in join_all(working).await {
            self.lanes.push(lane.expect("no panic")?);
        }

        Ok(())
    }

    pub async fn close(self) -> io::Result<()> {
        close_all(self.lanes.into_iter().map(|lane| lane.stream)).await
    }
}

impl Lane {
    async fn open(opener: &Opener, index: usize) -> io::Result<Self> {
        let mut lane = Self {
            stream: opener.open_indexed(index).await?,
            position: start_of_stream(index),
            confirmed_bytes: 0,
        };
        lane.confirm(0).await?;

        Ok(lane)
    }

    async fn write(&mut self, message_bytes: usize, unit_bytes: usize) -> io::Result<()> {
        for _ in 0..unit_bytes / message_bytes {
            let message = bytes_at(self.position, message_bytes);
            self.stream.write_all(message).await?;
            self.position += message_bytes;
        }

        Ok(())
    }

    /// Until so many units are confirmed: the first stream reads that, and tells the others.
    async fn wait(
        &mut self,
        index: usize,
        units: usize,
        unit_bytes: usize,
        confirmed: &watch::Sender<usize>,
    ) -> io::Result<()> {
        if index == 0 {
            let result = self.confirm(unit_bytes).await;
            // who waits goes on after a failure as well: the first stream reports it
            confirmed.send_replace(if result.is_ok() { units } else { usize::MAX });
            return result;
        }

        confirmed
            .subscribe()
            .wait_for(|&confirmed| confirmed >= units)
            .await
            .map(drop)
            .map_err(io::Error::other)
    }

    /// Reads the receiver's next reply, which is the sum of all bytes.
    async fn confirm(&mut self, more_bytes: usize) -> io::Result<()> {
        let mut reply = [0; 8];
        self.stream.read_exact(&mut reply).await?;
        self.confirmed_bytes += more_bytes;
        let verified_bytes = f64::from_be_bytes(reply);

        if verified_bytes < 0.0 {
            let right_bytes = -1.0 - verified_bytes;
            return Err(io::Error::other(format!(
                "the receiver got wrong bytes after {right_bytes} right ones"
            )));
        }

        if verified_bytes != self.confirmed_bytes as f64 {
            return Err(io::Error::other(format!(
                "the receiver got {verified_bytes} bytes instead of {}",
                self.confirmed_bytes
            )));
        }

        Ok(())
    }
}

/// On how many streams each unit has arrived; the first stream tells when it is all of them.
pub struct Arrivals {
    streams: usize,
    arrived: Mutex<HashMap<usize, usize>>,
    first: tokio::sync::Mutex<Option<WriteHalf<Stream>>>,
}

impl Arrivals {
    pub fn on(streams: usize) -> Self {
        Self {
            streams,
            arrived: Mutex::default(),
            first: tokio::sync::Mutex::default(),
        }
    }

    async fn count(&self, verified_bytes: usize) -> io::Result<()> {
        let is_on_all = {
            let mut arrived = self.arrived.lock().expect("no panic");
            let streams = arrived.entry(verified_bytes).or_default();
            *streams += 1;
            let is_on_all = *streams == self.streams;

            if is_on_all {
                arrived.remove(&verified_bytes);
            }

            is_on_all
        };

        if is_on_all {
            self.tell(verified_bytes as f64).await?;
        }

        Ok(())
    }

    /// The number of right bytes on each stream so far, or -1 less these when the next one is wrong.
    async fn tell(&self, verified_bytes: f64) -> io::Result<()> {
        match self.first.lock().await.as_mut() {
            Some(first) => reply(first, verified_bytes).await,
            None => Err(io::Error::other("the first stream is not there")),
        }
    }

    async fn close(&self) -> io::Result<()> {
        match self.first.lock().await.take() {
            Some(mut first) => first.close().await,
            None => Ok(()),
        }
    }
}

/// Counts each unit of right bytes as arrived, or tells that the next one is wrong.
pub async fn verify(stream: Stream, unit_bytes: usize, arrivals: Arc<Arrivals>) -> io::Result<()> {
    let (mut stream, mut replies) = stream.split();
    let mut index = [0; 4];
    stream.read_exact(&mut index).await?;
    let index = u32::from_be_bytes(index) as usize;

    if index == 0 {
        *arrivals.first.lock().await = Some(replies);
        arrivals.tell(0.0).await?;
        verify_all(&mut stream, index, unit_bytes, &arrivals).await?;
        arrivals.close().await
    } else {
        reply(&mut replies, 0.0).await?;
        verify_all(&mut stream, index, unit_bytes, &arrivals).await?;
        replies.close().await
    }
}

async fn verify_all(
    stream: &mut ReadHalf<Stream>,
    index: usize,
    unit_bytes: usize,
    arrivals: &Arrivals,
) -> io::Result<()> {
    let start = start_of_stream(index);
    let mut buffer = vec![0; READ_BYTES];
    let mut verified_bytes = 0;
    let mut unit_end_bytes = unit_bytes;

    loop {
        let bytes = match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            byte_length => &buffer[..byte_length],
        };

        if !is_at(start + verified_bytes, bytes) {
            arrivals.tell(-1.0 - verified_bytes as f64).await?;
            // the sender learns of it when it has written its unit
            while stream.read(&mut buffer).await? > 0 {}
            return Ok(());
        }

        verified_bytes += bytes.len();

        while verified_bytes >= unit_end_bytes {
            arrivals.count(unit_end_bytes).await?;
            unit_end_bytes += unit_bytes;
        }
    }
}

async fn reply(stream: &mut WriteHalf<Stream>, verified_bytes: f64) -> io::Result<()> {
    stream.write_all(&verified_bytes.to_be_bytes()).await
}
