package admin

import (
	"context"
	"testing"
	"time"

	"example.org/console/internal/settings"
)

type fixed struct{}

func (fixed) Resolve(context.Context, string, string) ([]string, error) {
	values := make([]string, 0, 8)
	return append(values, "wim", "zoe"), nil
}

func TestAnswersStayAsTheyWere(t *testing.T) {
	c := settings.NewCached(fixed{}, time.Hour, 100)
	r := NewRollout(c, []string{"ann"})
	if _, err := r.Audience(context.Background(), "acme", "search"); err != nil {
		t.Fatal(err)
	}
	values, _ := c.Resolve(context.Background(), "acme", "rollout.search")
	if len(values) != 2 || values[0] != "wim" || values[1] != "zoe" {
		t.Fatalf("the setting is now %v", values)
	}
}
