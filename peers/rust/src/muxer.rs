//! What a peer has to have: a muxer, its streams, and what makes its connection.

use std::{io, task::Context, task::Poll};

use futures::{
    AsyncRead, AsyncWrite,
    future::{BoxFuture, FutureExt, ready},
};

pub trait ReadWrite: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> ReadWrite for T {}

pub type Stream = Box<dyn ReadWrite>;

/// What the two implementations have in common.
pub trait Muxer: Send + 'static {
    /// Drives everything; `None` when the connection is over.
    fn poll_inbound(&mut self, cx: &mut Context<'_>) -> Poll<Option<Stream>>;
    fn poll_outbound(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Stream>>;
    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Agrees on a protocol where streams have one.
    fn agree(stream: Stream, _opened_here: bool) -> BoxFuture<'static, io::Result<Stream>> {
        ready(Ok(stream)).boxed()
    }
}

/// Makes the one connection that a peer has.
pub trait Endpoint {
    type Muxer: Muxer;

    /// Returns the multiaddr to dial, and the connection when it comes.
    fn listen(
        &mut self,
    ) -> impl Future<Output = io::Result<(String, BoxFuture<'static, io::Result<Self::Muxer>>)>>;
    fn dial(&mut self, address: &str) -> impl Future<Output = io::Result<Self::Muxer>>;
}
