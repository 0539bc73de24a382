//! What a benchmark measures: the work of a sender.

use std::{io, time::Instant};

use crate::{
    messages::MessageSender,
    process::{Counter, ms_since},
    requests::RequestSender,
};

pub enum Sender {
    Messages(MessageSender),
    Requests(RequestSender),
}

impl Sender {
    /// Does so many units without a break; done when the receiver has confirmed all of them. Adds the latencies of requests.
    async fn work(&mut self, units: usize, latencies_ms: &mut Vec<f64>) -> io::Result<()> {
        match self {
            Self::Messages(sender) => sender.work(units).await,
            Self::Requests(sender) => sender.work(units, latencies_ms).await,
        }
    }

    pub async fn close(self) -> io::Result<()> {
        match self {
            Self::Messages(sender) => sender.close().await,
            Self::Requests(sender) => sender.close().await,
        }
    }
}

/// Does one unit, then without a break as many as fill the time. Results in JSON.
pub async fn work(sender: &mut Sender, at_least_ms: usize) -> io::Result<String> {
    let mut latencies_ms = Vec::new();
    let counter = Counter::start();
    let start = Instant::now();
    sender.work(1, &mut latencies_ms).await?;
    let unit_ms = ms_since(start);
    let more_units = ((at_least_ms as f64 - unit_ms).max(0.0) / unit_ms).ceil() as usize;

    if more_units > 0 {
        sender.work(more_units, &mut latencies_ms).await?;
    }

    let units = 1 + more_units;
    let duration_ms = ms_since(start);
    let spent = counter.spent();

    Ok(format!(
        r#"{{"units":{units},"durationMs":{duration_ms},"latenciesMs":{latencies_ms:?},"spent":{spent}}}"#
    ))
}
