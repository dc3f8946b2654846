// Whoever finds what he looks for early leaves no cursor open. If one stays open, nothing is left that could close it, and the
// runtime reports that all goroutines are asleep.
package main

import (
	"fmt"
	"os"
	"time"

	"example.org/ledger/internal/audit"
)

// endless has an entry of ann for each second, and closed tells when its cursor was closed.
type endless struct {
	at     time.Time
	closed chan struct{}
}

func (e *endless) Open(until time.Time) (audit.Cursor, error) {
	e.at = until
	return e, nil
}

func (e *endless) Next() (audit.Entry, error) {
	e.at = e.at.Add(-time.Second)
	return audit.Entry{At: e.at, Actor: "ann", Action: "read", Object: "account/1"}, nil
}

func (e *endless) Close() error {
	close(e.closed)
	return nil
}

func main() {
	until := time.Unix(1_700_000_000, 0)
	store := &endless{closed: make(chan struct{})}
	result, err := audit.Search(store, audit.Query{Actor: "ann", Until: until})
	if err != nil || len(result.Entries) != audit.Page || !result.More {
		fmt.Println("found", len(result.Entries), result.More, err)
		os.Exit(1)
	}
	<-store.closed

	store = &endless{closed: make(chan struct{})}
	last, ok, err := audit.Last(store, audit.Query{Actor: "ann", Until: until})
	if err != nil || !ok || !last.At.Equal(until.Add(-time.Second)) {
		fmt.Println("last", last, ok, err)
		os.Exit(1)
	}
	<-store.closed
}
