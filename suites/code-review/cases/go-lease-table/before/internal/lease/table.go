// Package lease decides which worker may run a job.
package lease

import (
	"errors"
	"sync"
	"time"
)

// ErrTaken is returned while another worker holds the job.
var ErrTaken = errors.New("lease: held by another worker")

type entry struct {
	holder string
	until  time.Time
}

// Table holds the leases of one scheduler.
type Table struct {
	ttl time.Duration
	now func() time.Time

	mu     sync.Mutex
	leases map[string]entry
}

// NewTable returns an empty table whose leases last for ttl.
func NewTable(ttl time.Duration) *Table {
	return &Table{ttl: ttl, now: time.Now, leases: map[string]entry{}}
}

// Acquire gives the job to the worker, or returns ErrTaken.
func (t *Table) Acquire(job, worker string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if held, ok := t.leases[job]; ok && held.holder != worker && now.Before(held.until) {
		return ErrTaken
	}
	t.leases[job] = entry{holder: worker, until: now.Add(t.ttl)}
	return nil
}

// Release gives the job back; it does nothing if the worker does not hold it.
func (t *Table) Release(job, worker string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held, ok := t.leases[job]; ok && held.holder == worker {
		delete(t.leases, job)
	}
}
