package lease

import (
	"context"
	"time"
)

// Heartbeat renews the lease every interval until ctx ends. It returns the error of the renewal that did not succeed.
func Heartbeat(ctx context.Context, t *Table, job, worker string, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := t.Renew(job, worker); err != nil {
				return err
			}
		}
	}
}
