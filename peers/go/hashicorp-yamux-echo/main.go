// An echo target for conformance/ on hashicorp/yamux: `hashicorp-yamux-echo <host:port> [open]`. With `open` it opens a stream on each connection too.
package main

import (
	"fmt"
	"io"
	"net"
	"os"

	"github.com/hashicorp/yamux"
)

func echo(stream *yamux.Stream) {
	if _, err := io.Copy(stream, stream); err == nil {
		_ = stream.Close()
	}
}

func serve(socket net.Conn) {
	session, err := yamux.Server(socket, yamux.DefaultConfig())

	if err == nil && len(os.Args) > 2 {
		if stream, err := session.OpenStream(); err == nil {
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
