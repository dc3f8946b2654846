// Package audit reads the log of what users of the back office did.
package audit

import (
	"io"
	"time"
)

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

// Load returns all entries until a point in time.
func Load(store Store, until time.Time) ([]Entry, error) {
	cursor, err := store.Open(until)
	if err != nil {
		return nil, err
	}
	defer cursor.Close()
	var entries []Entry
	for {
		entry, err := cursor.Next()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
}
