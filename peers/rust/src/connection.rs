//! The one connection: a task that drives its muxer, and what asks it for streams and for its end.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures::future::{BoxFuture, FutureExt, Shared};
use tokio::sync::mpsc;

use crate::{
    acceptor::{Receiver, accept},
    muxer::{Muxer, Stream},
    opener::{Opener, Request},
};

pub struct Connection {
    pub opener: Opener,
    receiver: Arc<Mutex<Receiver>>,
    ends: mpsc::UnboundedReceiver<String>,
    closed: Shared<BoxFuture<'static, ()>>,
    held: Vec<Stream>,
}

impl Connection {
    pub fn start<M: Muxer>(muxer: M) -> Self {
        let (requests, requested) = mpsc::unbounded_channel();
        let (end, ends) = mpsc::unbounded_channel();
        let receiver = Arc::new(Mutex::new(Receiver::Jobs(end)));
        let driving = tokio::spawn(drive(muxer, requested, receiver.clone()));

        Self {
            opener: Opener {
                requests,
                agree: M::agree,
            },
            receiver,
            ends,
            closed: driving.map(drop).boxed().shared(),
            held: Vec::new(),
        }
    }

    /// Whose the streams are that come from now on.
    pub fn receive(&self, receiver: Receiver) {
        *self.receiver.lock().expect("not poisoned") = receiver;
    }

    /// Keeps a stream open.
    pub fn hold(&mut self, stream: Stream) {
        self.held.push(stream);
    }

    /// How the next stream of job `hang` ended.
    pub async fn next_end(&mut self) -> String {
        self.ends.recv().await.unwrap_or_default()
    }

    pub async fn close(&self) {
        // if it fails the connection is closed already
        let _ = self.opener.requests.send(Request::Close);
        self.closed().await;
    }

    pub async fn closed(&self) {
        self.closed.clone().await;
    }
}

async fn drive<M: Muxer>(
    mut muxer: M,
    mut requests: mpsc::UnboundedReceiver<Request>,
    receiver: Arc<Mutex<Receiver>>,
) {
    let mut opening = VecDeque::new();
    let mut closing = false;

    poll_fn(|cx: &mut Context<'_>| {
        while let Poll::Ready(Some(request)) = requests.poll_recv(cx) {
            match request {
                Request::Open(sender) => opening.push_back(sender),
                Request::Close => closing = true,
            }
        }

        if closing {
            return muxer.poll_close(cx);
        }

        while !opening.is_empty() {
            let Poll::Ready(stream) = muxer.poll_outbound(cx) else {
                break;
            };
            // whoever asked may have gone
            let _ = opening.pop_front().expect("one that waits").send(stream);
        }

        loop {
            match muxer.poll_inbound(cx) {
                Poll::Ready(Some(stream)) => {
                    let receiver = receiver.lock().expect("not poisoned").clone();
                    tokio::spawn(accept::<M>(stream, receiver));
                }
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}
