package audit

import (
	"strings"
	"time"
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

// Search returns the entries that fit, the latest first.
func Search(store Store, q Query) ([]Entry, error) {
	entries, err := Load(store, q.Until)
	if err != nil {
		return nil, err
	}
	var found []Entry
	for _, entry := range entries {
		if q.fits(entry) {
			found = append(found, entry)
		}
	}
	return found, nil
}
