// An echo target for conformance/ on go-yamux: `go-yamux-echo <host:port> [open]`. With `open` it opens a stream on each connection too.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/libp2p/go-yamux/v5"
)

func echo(stream *yamux.Stream) {
	if _, err := io.Copy(stream, stream); err == nil {
		_ = stream.CloseWrite()
	}
}

func serve(socket net.Conn) {
	session, err := yamux.Server(socket, yamux.DefaultConfig(), nil)

	if err == nil && len(os.Args) > 2 {
		if stream, err := session.OpenStream(context.Background()); err == nil {
			_, _ = stream.Write([]byte("hello"))
			go echo(stream)
		}
	}

	for err == nil {
		var stream *yamux.Stream
		if stream, err = session.AcceptStream(); err == nil {
			go echo(stream)
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())

	for {
		socket, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go serve(socket)
	}
}
