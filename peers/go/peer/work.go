package peer

// What a benchmark measures: the work of a sender, and what the process spends on it.

import (
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// sender is the half of a scenario that works.
type sender interface {
	// work does so many units without a break and returns, with the latencies of requests, when the receiver has
	// confirmed all of them.
	work(units int) (latenciesMs []float64, err error)
	close() error
}

// sent is the answer to `work`.
type sent struct {
	Units       int       `json:"units"`
	DurationMs  float64   `json:"durationMs"`
	LatenciesMs []float64 `json:"latenciesMs"`
	Spent       spent     `json:"spent"`
}

// spent is what the process has spent since it began to count; its memory is what it has now. What is not known is left
// out: libp2p opens its sockets itself, and not everywhere is a /proc.
type spent struct {
	CpuMs        float64 `json:"cpuMs"`
	SocketWrites int64   `json:"socketWrites,omitempty"`
	RssBytes     int64   `json:"rssBytes,omitempty"`
}

// work does one unit, then without a break as many as fill the time.
func work(sender sender, atLeastMs int) (sent, error) {
	spentSince := startCounting()
	start := time.Now()
	latenciesMs, err := sender.work(1)
	if err != nil {
		return sent{}, err
	}

	unitMs := msSince(start)
	moreUnits := int(math.Ceil(max(0, float64(atLeastMs)-unitMs) / unitMs))
	if moreUnits > 0 {
		moreMs, err := sender.work(moreUnits)
		if err != nil {
			return sent{}, err
		}
		latenciesMs = append(latenciesMs, moreMs...)
	}

	return sent{1 + moreUnits, msSince(start), latenciesMs, spentSince()}, nil
}

func msSince(start time.Time) float64 {
	return float64(time.Since(start)) / float64(time.Millisecond)
}

func startCounting() func() spent {
	beforeMs, beforeWrites := cpuMs(), socketWrites.Load()

	return func() spent {
		return spent{cpuMs() - beforeMs, socketWrites.Load() - beforeWrites, rssBytes()}
	}
}

var socketWrites atomic.Int64

type countedConn struct{ net.Conn }

func (c countedConn) Write(bytes []byte) (int, error) {
	socketWrites.Add(1)
	return c.Conn.Write(bytes)
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
