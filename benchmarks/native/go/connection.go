package main

// The one connection that the program has, and what it costs.

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/libp2p/go-yamux/v5"
)

type connection struct {
	session *yamux.Session
	// begun is closed when there is a session
	begun chan struct{}
	// onStream is what is done with the streams that are accepted
	onStream     atomic.Pointer[receiver]
	socketWrites atomic.Int64
}

// spent is what the process has spent since it began to count; its memory is what it has now.
type spent struct {
	CpuMs        float64 `json:"cpuMs"`
	SocketWrites int64   `json:"socketWrites"`
	RssBytes     int64   `json:"rssBytes,omitempty"`
}

func newConnection() *connection {
	return &connection{begun: make(chan struct{})}
}

// listen returns the address of a port that takes one connection.
func (c *connection) listen() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}

	go func() {
		socket, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		if err := c.begin(socket, yamux.Server); err != nil {
			panic(err)
		}
	}()

	return listener.Addr().String(), nil
}

func (c *connection) dial(address string) error {
	socket, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}

	return c.begin(socket, yamux.Client)
}

// begin leaves all as it comes: the default configuration, and TCP_NODELAY as Go sets it.
func (c *connection) begin(socket net.Conn, create func(net.Conn, *yamux.Config, func() (yamux.MemoryManager, error)) (*yamux.Session, error)) error {
	session, err := create(countedConn{socket, &c.socketWrites}, yamux.DefaultConfig(), nil)
	if err != nil {
		return err
	}

	c.session = session
	close(c.begun)
	go func() {
		for {
			stream, err := session.AcceptStream()
			if err != nil {
				return
			}
			go c.onStream.Load().accept(stream)
		}
	}()

	return nil
}

func (c *connection) open() (*yamux.Stream, error) {
	<-c.begun
	return c.session.OpenStream(context.Background())
}

type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countedConn) Write(bytes []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(bytes)
}

func (c *connection) startCounting() func() spent {
	beforeMs, beforeWrites := cpuMs(), c.socketWrites.Load()

	return func() spent {
		return spent{cpuMs() - beforeMs, c.socketWrites.Load() - beforeWrites, rssBytes()}
	}
}

// cpuMs is the user and system time of all threads.
func cpuMs() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}

	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

// rssBytes is 0 where there is no /proc.
func rssBytes() int64 {
	status, _ := os.ReadFile("/proc/self/status")

	for line := range strings.Lines(string(status)) {
		if words := strings.Fields(line); words[0] == "VmRSS:" {
			kib, _ := strconv.ParseInt(words[1], 10, 64)
			return kib * 1024
		}
	}

	return 0
}
