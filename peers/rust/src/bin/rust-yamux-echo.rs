//! An echo target for conformance/ on the `yamux` crate: `rust-yamux-echo <host:port> [open]`. With `open` it opens a stream on each connection too.

use std::{env, future::poll_fn, io};

use futures::{AsyncReadExt, AsyncWriteExt, io::copy};
use tokio::{net::TcpListener, net::TcpStream, spawn};
use tokio_util::compat::TokioAsyncReadCompatExt;
use yamux::{Config, Connection, Mode, Stream};

async fn echo(stream: Stream) {
    let (reader, mut writer) = stream.split();

    if copy(reader, &mut writer).await.is_ok() {
        let _ = writer.close().await;
    }
}

async fn serve(socket: TcpStream) {
    let mut connection = Connection::new(socket.compat(), Config::default(), Mode::Server);

    if env::args().len() > 2
        && let Ok(mut stream) = poll_fn(|cx| connection.poll_new_outbound(cx)).await
    {
        spawn(async move {
            let _ = stream.write_all(b"hello").await;
            echo(stream).await;
        });
    }

    while let Some(Ok(stream)) = poll_fn(|cx| connection.poll_next_inbound(cx)).await {
        spawn(echo(stream));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind(env::args().nth(1).expect("host:port")).await?;
    println!("{}", listener.local_addr()?);

    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        spawn(serve(socket));
    }
}
