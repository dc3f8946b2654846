// Package outbox hands committed events to the message broker in the order in which they were written.
package outbox

import "context"

// Entry is one event in the outbox table. IDs grow by commit order.
type Entry struct {
	ID      int64
	Topic   string
	Payload []byte
}

// Store reads the outbox table and keeps the relay's position in it.
type Store interface {
	// Next returns the first entry behind id, or nil if there is none.
	Next(ctx context.Context, id int64) (*Entry, error)
	Cursor(ctx context.Context) (int64, error)
	SaveCursor(ctx context.Context, id int64) error
}

// Broker delivers one message; an error means that it was not accepted.
type Broker interface {
	Publish(ctx context.Context, topic string, payload []byte) error
}
