// Package audit reads the log of what users of the back office did.
package audit

import "time"

// Entry is one line of the log.
type Entry struct {
	At     time.Time
	Actor  string
	Action string
	Object string
}

// Cursor walks over entries. It holds a connection to the database until it is closed.
type Cursor interface {
	// Next returns io.EOF behind the last entry.
	Next() (Entry, error)
	Close() error
}

// Store has the entries of one tenant, the latest first.
type Store interface {
	Open(until time.Time) (Cursor, error)
}
