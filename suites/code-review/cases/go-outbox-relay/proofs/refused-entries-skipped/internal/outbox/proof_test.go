package outbox

import (
	"context"
	"errors"
	"io"
	"log"
	"testing"
	"time"

	"example.org/ledger/internal/backoff"
)

type table struct {
	entries []Entry
	cursor  int64
}

func (s *table) After(_ context.Context, id int64, limit int) ([]Entry, error) {
	var found []Entry
	for _, e := range s.entries {
		if e.ID > id && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}
func (s *table) Cursor(context.Context) (int64, error)        { return s.cursor, nil }
func (s *table) SaveCursor(_ context.Context, id int64) error { s.cursor = id; return nil }

type broker struct {
	refuse map[string]int
	got    map[string]bool
}

func (b *broker) Publish(_ context.Context, topic string, _ []byte) error {
	if b.refuse[topic] > 0 {
		b.refuse[topic]--
		return errors.New("unavailable")
	}
	b.got[topic] = true
	return nil
}

func TestEveryEntryArrives(t *testing.T) {
	s := &table{entries: []Entry{{ID: 1, Topic: "a"}, {ID: 2, Topic: "b"}, {ID: 3, Topic: "c"}}}
	b := &broker{refuse: map[string]int{"b": 1}, got: map[string]bool{}}
	r := NewRelay(s, b, log.New(io.Discard, "", 0), 10, backoff.Policy{Base: time.Second, Max: time.Minute})
	for i := 0; i < 4; i++ {
		r.Round(context.Background())
	}
	for _, topic := range []string{"a", "b", "c"} {
		if !b.got[topic] {
			t.Errorf("entry %q never arrived", topic)
		}
	}
}
