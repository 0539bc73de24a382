//! What the process has spent since it began to count; its memory is what it has now.

use std::{
    fs, io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use cpu_time::ProcessTime;
use futures::{AsyncRead, AsyncWrite};

pub struct Counter {
    cpu: ProcessTime,
    socket_writes: Arc<AtomicU64>,
    writes_before: u64,
}

impl Counter {
    pub fn start(socket_writes: Arc<AtomicU64>) -> Self {
        Self {
            cpu: ProcessTime::now(),
            writes_before: socket_writes.load(Relaxed),
            socket_writes,
        }
    }

    /// As JSON.
    pub fn spent(&self) -> String {
        let cpu_ms = self.cpu.elapsed().as_secs_f64() * 1000.0;
        let socket_writes = self.socket_writes.load(Relaxed) - self.writes_before;
        let rss = rss_bytes().map_or(String::new(), |bytes| format!(r#","rssBytes":{bytes}"#));

        format!(r#"{{"cpuMs":{cpu_ms},"socketWrites":{socket_writes}{rss}}}"#)
    }
}

/// `None` where there is no /proc.
fn rss_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.split("VmRSS:").nth(1)?.split_whitespace().next()?;

    kib.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// A socket that counts the writes which the kernel took.
pub struct Counted<T> {
    pub socket: T,
    pub writes: Arc<AtomicU64>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Counted<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_read(cx, bytes)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.writes.fetch_add(u64::from(result.is_ready()), Relaxed);
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_close(cx)
    }
}
