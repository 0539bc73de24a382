//! What a benchmark measures: the work of a sender, and what the process spends on it.

use std::{
    fs, io,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use cpu_time::ProcessTime;
use tokio::task::{JoinHandle, yield_now};

use crate::{messages::MessageSender, requests::RequestSender};

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

pub fn ms_since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1000.0
}

/// Keeps a core from falling asleep between requests, as `scenarios/requests.ts` of the benchmarks does.
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

static SOCKET_WRITES: AtomicU64 = AtomicU64::new(0);

/// The kernel took one.
pub fn count_socket_write() {
    SOCKET_WRITES.fetch_add(1, Relaxed);
}

/// What the process has spent since it began to count; its memory is what it has now.
pub struct Counter {
    cpu: ProcessTime,
    writes_before: u64,
}

impl Counter {
    pub fn start() -> Self {
        Self {
            cpu: ProcessTime::now(),
            writes_before: SOCKET_WRITES.load(Relaxed),
        }
    }

    /// As JSON. What is not known is left out: libp2p opens its sockets itself, and not everywhere is a /proc.
    pub fn spent(&self) -> String {
        let cpu_ms = self.cpu.elapsed().as_secs_f64() * 1000.0;
        let writes = SOCKET_WRITES.load(Relaxed) - self.writes_before;
        let socket_writes = match writes {
            0 => String::new(),
            writes => format!(r#","socketWrites":{writes}"#),
        };
        let rss = rss_bytes().map_or(String::new(), |bytes| format!(r#","rssBytes":{bytes}"#));

        format!(r#"{{"cpuMs":{cpu_ms}{socket_writes}{rss}}}"#)
    }
}

fn rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.split("VmRSS:").nth(1)?.split_whitespace().next()?;

    kib.parse::<u64>().ok().map(|kib| kib * 1024)
}
