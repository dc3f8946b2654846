package backoff

import (
	"testing"
	"time"
)

func TestDelayStaysBetweenBaseAndMax(t *testing.T) {
	p := Policy{Base: 100 * time.Millisecond, Max: 30 * time.Second}
	for attempt := 0; attempt < 200; attempt++ {
		if d := p.Delay(attempt); d < p.Base || d > p.Max {
			t.Fatalf("attempt %d: %v", attempt, d)
		}
	}
}
