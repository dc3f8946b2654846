package audit

import (
	"errors"
	"io"
	"strings"
	"time"
)

const (
	// Page is how many entries a search returns at most.
	Page = 50
	// ahead is how many entries are read while those before them are looked at.
	ahead = 64
)

// Query says which entries are looked for; empty fields fit every entry.
type Query struct {
	Actor  string
	Object string
	Until  time.Time
}

func (q Query) fits(entry Entry) bool {
	return (q.Actor == "" || q.Actor == entry.Actor) && strings.HasPrefix(entry.Object, q.Object)
}

// Result is a page of what was found.
type Result struct {
	Entries []Entry
	// More tells whether older entries fit as well.
	More bool
}

// Search returns the entries that fit, the latest first.
func Search(store Store, q Query) (Result, error) {
	rows, err := stream(store, q.Until)
	if err != nil {
		return Result{}, err
	}
	var result Result
	for row := range rows {
		if row.err != nil {
			return Result{}, row.err
		}
		if !q.fits(row.entry) {
			continue
		}
		if len(result.Entries) == Page {
			result.More = true
			break
		}
		result.Entries = append(result.Entries, row.entry)
	}
	return result, nil
}

// Last returns the latest entry that fits, and whether there is one.
func Last(store Store, q Query) (Entry, bool, error) {
	rows, err := stream(store, q.Until)
	if err != nil {
		return Entry{}, false, err
	}
	for row := range rows {
		if row.err != nil {
			return Entry{}, false, row.err
		}
		if q.fits(row.entry) {
			return row.entry, true, nil
		}
	}
	return Entry{}, false, nil
}

// row is an entry, or the error that ended the reading.
type row struct {
	entry Entry
	err   error
}

// stream returns entries as they are read. The channel is closed behind the last one.
func stream(store Store, until time.Time) (<-chan row, error) {
	cursor, err := store.Open(until)
	if err != nil {
		return nil, err
	}
	rows := make(chan row, ahead)
	go read(cursor, rows)
	return rows, nil
}

func read(cursor Cursor, rows chan<- row) {
	defer close(rows)
	defer cursor.Close()
	for {
		entry, err := cursor.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		rows <- row{entry, err}
		if err != nil {
			return
		}
	}
}
