package settings

import (
	"context"
	"sort"
	"sync"
	"time"
)

type answer struct {
	values []string
	until  time.Time
}

// Cached remembers the answers of another Resolver for a while. Errors are not remembered.
type Cached struct {
	inner Resolver
	ttl   time.Duration
	limit int
	now   func() time.Time

	mu      sync.RWMutex
	answers map[string]answer
}

// NewCached wraps inner. At most limit answers are held.
func NewCached(inner Resolver, ttl time.Duration, limit int) *Cached {
	return &Cached{inner: inner, ttl: ttl, limit: limit, now: time.Now, answers: map[string]answer{}}
}

// Resolve implements Resolver.
func (c *Cached) Resolve(ctx context.Context, tenant, name string) ([]string, error) {
	key := tenant + name
	c.mu.RLock()
	known, ok := c.answers[key]
	c.mu.RUnlock()
	if ok && c.now().Before(known.until) {
		return known.values, nil
	}

	values, err := c.inner.Resolve(ctx, tenant, name)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.answers) >= c.limit {
		c.sweep()
	}
	c.answers[key] = answer{values: values, until: c.now().Add(c.ttl)}
	return values, nil
}

// ResolveWith returns the values of a setting together with more, each once and in alphabetical order.
func (c *Cached) ResolveWith(ctx context.Context, tenant, name string, more []string) ([]string, error) {
	values, err := c.Resolve(ctx, tenant, name)
	if err != nil {
		return nil, err
	}
	values = append(values, more...)
	sort.Strings(values)
	return unique(values), nil
}

// unique returns the distinct values of a sorted slice.
func unique(sorted []string) []string {
	var distinct []string
	for i, value := range sorted {
		if i == 0 || value != sorted[i-1] {
			distinct = append(distinct, value)
		}
	}
	return distinct
}

// sweep drops expired answers, or all of them if none has expired. The caller holds mu.
func (c *Cached) sweep() {
	now, dropped := c.now(), 0
	for key, known := range c.answers {
		if !now.Before(known.until) {
			delete(c.answers, key)
			dropped++
		}
	}
	if dropped == 0 {
		c.answers = map[string]answer{}
	}
}
