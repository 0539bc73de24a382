// A stream whose FIN comes before AcceptStream is never acknowledged.
// cd peers/go && go run ../../conformance/reproductions/2.11-hashicorp-yamux.go
package main

import (
	"fmt"
	"io"
	"net"
	"time"

	"github.com/hashicorp/yamux"
)

func main() {
	client, server := net.Pipe()
	session, _ := yamux.Server(server, yamux.DefaultConfig())
	client.Write([]byte{0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}) // WINDOW_UPDATE SYN stream 1
	client.Write([]byte{0, 1, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0}) // WINDOW_UPDATE FIN stream 1
	time.Sleep(100 * time.Millisecond)

	stream, _ := session.AcceptStream()
	go stream.Close()

	header := make([]byte, 12)
	io.ReadFull(client, header)
	fmt.Println("expected flags 0x2 (ACK) or 0x6 (ACK and FIN) on stream 1, received", header) // flags are 0x4, FIN alone
}
