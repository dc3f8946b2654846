package settings

import (
	"context"
	"testing"
	"time"
)

type echo struct{}

func (echo) Resolve(_ context.Context, tenant, name string) ([]string, error) {
	return []string{tenant + "|" + name}, nil
}

func TestTenantsAreKeptApart(t *testing.T) {
	c := NewCached(echo{}, time.Minute, 100)
	for _, q := range [][2]string{{"acme", "eu.limits"}, {"acmeeu", ".limits"}, {"acme", "eu.limits"}} {
		values, err := c.Resolve(context.Background(), q[0], q[1])
		if err != nil || len(values) != 1 || values[0] != q[0]+"|"+q[1] {
			t.Fatalf("%v: %v, %v", q, values, err)
		}
	}
}
