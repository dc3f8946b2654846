// Package backoff computes pauses that grow with the number of failures.
package backoff

import (
	"math/rand"
	"time"
)

// Policy says how long to pause.
type Policy struct {
	Base   time.Duration
	Max    time.Duration
	Jitter time.Duration
}

// Delay returns Base for attempt 0, twice as long for each further attempt and at most Max, plus up to Jitter.
func (p Policy) Delay(attempt int) time.Duration {
	d := p.Base
	for i := 0; i < attempt && d < p.Max; i++ {
		d *= 2
	}
	if d > p.Max {
		d = p.Max
	}
	if p.Jitter > 0 {
		d += time.Duration(rand.Int63n(int64(p.Jitter)))
	}
	return d
}
