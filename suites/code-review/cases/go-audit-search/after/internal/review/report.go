// Package review prepares what the internal auditors look at each week.
package review

import (
	"fmt"
	"time"

	"example.org/ledger/internal/audit"
)

// Report lists what was done to an account, at most a page of it.
func Report(store audit.Store, account string, until time.Time) ([]string, error) {
	found, err := audit.Search(store, audit.Query{Object: "account/" + account, Until: until})
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", account, err)
	}
	lines := make([]string, 0, len(found.Entries)+1)
	for _, entry := range found.Entries {
		lines = append(lines, line(entry))
	}
	if found.More {
		lines = append(lines, "and older ones")
	}
	return lines, nil
}

// Changed tells whether anything was done to an account since a point in time.
func Changed(store audit.Store, account string, since, until time.Time) (bool, error) {
	last, ok, err := audit.Last(store, audit.Query{Object: "account/" + account, Until: until})
	if err != nil {
		return false, fmt.Errorf("account %s: %w", account, err)
	}
	return ok && !last.At.Before(since), nil
}

func line(entry audit.Entry) string {
	return fmt.Sprintf("%s %-12s %s %s", entry.At.UTC().Format(time.RFC3339), entry.Actor, entry.Action, entry.Object)
}
