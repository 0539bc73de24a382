//! What the process spends, and what keeps it awake.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use cpu_time::ProcessTime;
use tokio::task::{JoinHandle, yield_now};

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
