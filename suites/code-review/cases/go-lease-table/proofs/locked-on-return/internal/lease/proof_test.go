package lease

import (
	"errors"
	"testing"
	"time"
)

func TestTableIsUsableAfterRefusal(t *testing.T) {
	table := NewTable(time.Hour)
	if err := table.Acquire("report", "a"); err != nil {
		t.Fatal(err)
	}
	if err := table.Renew("report", "b"); !errors.Is(err, ErrTaken) {
		t.Fatal(err)
	}
	if !table.mu.TryLock() {
		t.Fatal("the table is still locked")
	}
}
