// A sender or a receiver of the benchmark on go-yamux over plain TCP. It answers the lines of ../README.md.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// sender is the half of a scenario that works.
type sender interface {
	// work does so many units without a break and returns when the receiver has confirmed all of them.
	work(units int) error
	// takeLatencies returns those of the requests since it was called last.
	takeLatencies() []float64
	close() error
}

// sent is the answer to `send`, as Sent of ../../peer.ts.
type sent struct {
	Units       int       `json:"units"`
	DurationMs  float64   `json:"durationMs"`
	LatenciesMs []float64 `json:"latenciesMs"`
	Spent       spent     `json:"spent"`
}

type program struct {
	connection *connection
	sender     sender
	spentSince func() spent
}

func main() {
	program := program{}
	lines := bufio.NewScanner(os.Stdin)

	for lines.Scan() {
		result, err := program.run(strings.Fields(lines.Text()))

		if err != nil {
			fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
		} else if result == nil {
			fmt.Println("ok")
		} else {
			answer, _ := json.Marshal(result)
			fmt.Printf("ok %s\n", answer)
		}
	}
}

func (p *program) run(words []string) (result any, err error) {
	command, parameters := words[0], words[1:]

	switch command {
	case "listen":
		p.connection = newConnection()
		return p.connection.listen()
	case "dial":
		p.connection = newConnection()
		return nil, p.connection.dial(parameters[0])
	case "receive":
		onStream := receive(parameters[0], numbersOf(parameters[1:]))
		p.connection.onStream.Store(&onStream)
		return nil, nil
	case "open":
		p.sender, err = open(p.connection, parameters[0], numbersOf(parameters[1:]))
		return nil, err
	case "send":
		return p.send(numbersOf(parameters)[0])
	case "count":
		p.spentSince = p.connection.startCounting()
		return nil, nil
	case "spent":
		return p.spentSince(), nil
	case "close":
		return nil, p.close()
	}

	return nil, fmt.Errorf("there is no command %s", command)
}

// send does one unit, then without a break as many as fill the time.
func (p *program) send(atLeastMs int) (any, error) {
	if p.sender == nil {
		return nil, errors.New("nothing is open to send on")
	}

	spentSince := p.connection.startCounting()
	start := time.Now()
	if err := p.sender.work(1); err != nil {
		return nil, err
	}

	unitMs := msSince(start)
	moreUnits := int(math.Ceil(max(0, float64(atLeastMs)-unitMs) / unitMs))
	if moreUnits > 0 {
		if err := p.sender.work(moreUnits); err != nil {
			return nil, err
		}
	}

	return sent{1 + moreUnits, msSince(start), p.sender.takeLatencies(), spentSince()}, nil
}

func (p *program) close() error {
	if p.sender == nil {
		return nil
	}

	err := p.sender.close()
	p.sender = nil
	return err
}

func msSince(start time.Time) float64 {
	return float64(time.Since(start)) / float64(time.Millisecond)
}

func numbersOf(words []string) []int {
	numbers := make([]int, len(words))

	for i, word := range words {
		numbers[i], _ = strconv.Atoi(word)
	}

	return numbers
}
