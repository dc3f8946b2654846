package outbox

import (
	"context"
	"fmt"
	"log"
	"time"
)

// Relay moves entries from the outbox to the broker.
type Relay struct {
	store  Store
	broker Broker
	log    *log.Logger
}

// NewRelay returns a relay that logs to logger.
func NewRelay(store Store, broker Broker, logger *log.Logger) *Relay {
	return &Relay{store: store, broker: broker, log: logger}
}

// Step relays the next entry. It reports false when there was none.
func (r *Relay) Step(ctx context.Context) (bool, error) {
	cursor, err := r.store.Cursor(ctx)
	if err != nil {
		return false, fmt.Errorf("outbox: read cursor: %w", err)
	}
	entry, err := r.store.Next(ctx, cursor)
	if err != nil {
		return false, fmt.Errorf("outbox: read entry: %w", err)
	}
	if entry == nil {
		return false, nil
	}
	if err := r.broker.Publish(ctx, entry.Topic, entry.Payload); err != nil {
		return false, fmt.Errorf("outbox: publish %d: %w", entry.ID, err)
	}
	if err := r.store.SaveCursor(ctx, entry.ID); err != nil {
		return false, fmt.Errorf("outbox: save cursor: %w", err)
	}
	return true, nil
}

// Run relays entries until ctx ends, and looks for new ones every interval.
func (r *Relay) Run(ctx context.Context, interval time.Duration) error {
	for {
		more, err := r.Step(ctx)
		if err != nil {
			r.log.Print(err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}
