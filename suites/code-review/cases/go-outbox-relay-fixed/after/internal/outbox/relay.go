package outbox

import (
	"context"
	"fmt"
	"log"
	"time"

	"example.org/ledger/internal/backoff"
)

// Relay moves entries from the outbox to the broker.
type Relay struct {
	store     Store
	broker    Broker
	log       *log.Logger
	batchSize int
	pause     backoff.Policy
}

// NewRelay returns a relay that loads batchSize entries in each round and logs to logger.
func NewRelay(store Store, broker Broker, logger *log.Logger, batchSize int, pause backoff.Policy) *Relay {
	return &Relay{store: store, broker: broker, log: logger, batchSize: batchSize, pause: pause}
}

// Round relays the next batch and returns how many entries the broker accepted.
func (r *Relay) Round(ctx context.Context) (int, error) {
	cursor, err := r.store.Cursor(ctx)
	if err != nil {
		return 0, fmt.Errorf("outbox: read cursor: %w", err)
	}
	entries, err := r.store.After(ctx, cursor, r.batchSize)
	if err != nil {
		return 0, fmt.Errorf("outbox: read entries: %w", err)
	}
	if len(entries) == 0 {
		return 0, nil
	}

	accepted := 0
	var failure error
	last := cursor
	for _, entry := range entries {
		if err := r.broker.Publish(ctx, entry.Topic, entry.Payload); err != nil {
			r.log.Printf("outbox: publish %d to %s: %v", entry.ID, entry.Topic, err)
			failure = fmt.Errorf("outbox: publish %d: %w", entry.ID, err)
			break
		}
		last = entry.ID
		accepted++
	}

	if err := r.store.SaveCursor(ctx, last); err != nil {
		return accepted, fmt.Errorf("outbox: save cursor: %w", err)
	}
	return accepted, failure
}

// Run relays batches until ctx ends.
func (r *Relay) Run(ctx context.Context) error {
	failures := 0
	for {
		accepted, err := r.Round(ctx)
		if err != nil {
			failures++
			r.log.Print(err)
		} else {
			failures = 0
		}
		if err == nil && accepted == r.batchSize {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.pause.Delay(failures)):
		}
	}
}
