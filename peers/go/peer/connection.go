package peer

// What a program is made of: an endpoint, the one connection that it makes, and streams. Those without libp2p lay their
// connection on a bare socket.

import (
	"fmt"
	"io"
	"net"
	"strings"
)

// Stream is what the implementations have in common.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error
	Reset(code uint32) error
}

// Connection is the one connection that a peer has.
type Connection interface {
	Open() (Stream, error)
	// Ping sends one and waits for its answer.
	Ping() error
	// Close ends the connection in good order.
	Close() error
	// Closed is closed when the connection is.
	Closed() <-chan struct{}
}

// Endpoint makes connections, and hands the streams that come to Accept.
type Endpoint interface {
	// Listen returns the multiaddr to dial. The connection that comes is sent to the channel.
	Listen(accepted chan<- Connection) (address string, err error)
	Dial(address string) (Connection, error)
}

// Session is a connection that is asked for the streams that come.
type Session interface {
	Connection
	Accept() (Stream, error)
}

// PlainTCP is an endpoint that lays sessions on bare sockets.
type PlainTCP struct {
	Begin func(socket net.Conn, isClient bool) (Session, error)
}

func (p PlainTCP) Listen(accepted chan<- Connection) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}

	go func() {
		socket, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		connection, err := p.begin(socket, false)
		if err != nil {
			panic(err)
		}
		accepted <- connection
	}()

	return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", listener.Addr().(*net.TCPAddr).Port), nil
}

func (p PlainTCP) Dial(address string) (Connection, error) {
	parts := strings.Split(address, "/")
	socket, err := net.Dial("tcp", net.JoinHostPort(parts[2], parts[4]))
	if err != nil {
		return nil, err
	}

	return p.begin(socket, true)
}

// begin leaves the socket as it comes, with TCP_NODELAY as Go sets it.
func (p PlainTCP) begin(socket net.Conn, isClient bool) (Connection, error) {
	session, err := p.Begin(countedConn{socket}, isClient)
	if err != nil {
		return nil, err
	}

	go func() {
		for {
			stream, err := session.Accept()
			if err != nil {
				return
			}
			go Accept(stream)
		}
	}()

	return session, nil
}
