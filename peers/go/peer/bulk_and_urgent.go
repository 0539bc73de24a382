package peer

// Urgent messages at fixed times beside bulk: the sender of ../../../benchmarks/uplink/end-process.ts.

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

type bulkAndUrgent struct {
	urgent Stream
	bulk   []Stream
	// ended gets an error of any stream, or nil when all urgent messages are echoed
	ended chan error
}

// urgentWork is a number of messages to send and echoes to wait for, in milliseconds from its beginning.
type urgentWork struct {
	messageBytes, intervalMs int
	// fromMs is when the window begins that counts
	fromMs, toMs int
	// giveUpMs is when a message without an echo counts as that late
	giveUpMs int
}

// urgentSent has an entry for each message of the window.
type urgentSent struct {
	LatenciesMs []float64 `json:"latenciesMs"`
	LateMs      []float64 `json:"lateMs"`
	Spent       spent     `json:"spent"`
}

func openBulkAndUrgent(connection Connection, bulkStreams int) (*bulkAndUrgent, error) {
	streams := make([]Stream, 1+bulkStreams)

	for index := range streams {
		stream, err := openIndexed(connection, index)
		if err != nil {
			return nil, err
		}
		streams[index] = stream
	}

	// room for all that may end: each bulk stream, and both ways of the urgent one
	return &bulkAndUrgent{streams[0], streams[1:], make(chan error, bulkStreams+2)}, nil
}

// sendBulk goes on until the connection ends.
func (b *bulkAndUrgent) sendBulk(messageBytes int) {
	for i, stream := range b.bulk {
		go func() {
			index := 1 + i

			for position := startOfStream(index); ; position += messageBytes {
				if _, err := stream.Write(bytesAt(position, messageBytes)); err != nil {
					b.ended <- fmt.Errorf("stream %d: %w", index, err)
					return
				}
			}
		}()
	}
}

// sendUrgent queues each message when it is due, however long the write of the one before takes.
func (b *bulkAndUrgent) sendUrgent(work urgentWork) (urgentSent, error) {
	start := time.Now()
	messages := work.toMs / work.intervalMs
	queue := make(chan int, messages)
	echoes := &echoes{}

	go b.writeUrgent(queue, work.messageBytes)
	go func() { b.ended <- echoes.read(b.urgent, messages, work.messageBytes, start) }()

	dueMs := make([]float64, messages)
	lateMs := make([]float64, messages)
	firstCounted := (work.fromMs + work.intervalMs - 1) / work.intervalMs
	spentSince := startCounting()

	for message := range messages {
		due := start.Add(time.Duration(message*work.intervalMs) * time.Millisecond)
		time.Sleep(time.Until(due))

		if message == firstCounted {
			spentSince = startCounting()
		}
		dueMs[message] = float64(message * work.intervalMs)
		lateMs[message] = msSince(due)
		queue <- message
	}

	close(queue)
	spent := spentSince()

	select {
	case err := <-b.ended:
		if err != nil {
			return urgentSent{}, err
		}
	case <-time.After(time.Until(start.Add(time.Duration(work.giveUpMs) * time.Millisecond))):
	}

	latenciesMs := echoes.latenciesMs(dueMs, start)

	return urgentSent{latenciesMs[firstCounted:], lateMs[firstCounted:], spent}, nil
}

// writeUrgent writes at once what became due during the write before, as a stream in JavaScript sends what it has buffered.
// Each write waits for its turn among those of bulk: a slow link has less than 50 turns a second.
func (b *bulkAndUrgent) writeUrgent(queue <-chan int, messageBytes int) {
	for first := range queue {
		more := min(len(queue), longestMessageBytes/messageBytes-1)
		for range more {
			<-queue
		}

		if _, err := b.urgent.Write(bytesAt(first*messageBytes, (1+more)*messageBytes)); err != nil {
			b.ended <- err
			return
		}
	}
}

// echoes are when each message was back, in their order.
type echoes struct {
	mutex    sync.Mutex
	echoedMs []float64
}

func (e *echoes) read(stream Stream, messages, messageBytes int, start time.Time) error {
	echo := make([]byte, messageBytes)

	for message := range messages {
		if _, err := io.ReadFull(stream, echo); err != nil {
			return err
		}
		if !isAt(message*messageBytes, echo) {
			return errors.New("an echo differs from its message")
		}

		e.mutex.Lock()
		e.echoedMs = append(e.echoedMs, msSince(start))
		e.mutex.Unlock()
	}

	return nil
}

// latenciesMs takes messages without an echo as coming back now.
func (e *echoes) latenciesMs(dueMs []float64, start time.Time) []float64 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	latenciesMs := make([]float64, len(dueMs))

	for message := range dueMs {
		backMs := msSince(start)
		if message < len(e.echoedMs) {
			backMs = e.echoedMs[message]
		}
		latenciesMs[message] = backMs - dueMs[message]
	}

	return latenciesMs
}
