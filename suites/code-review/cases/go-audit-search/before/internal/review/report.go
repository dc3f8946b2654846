// Package review prepares what the internal auditors look at each week.
package review

import (
	"fmt"
	"time"

	"example.org/ledger/internal/audit"
)

// Report lists what was done to an account.
func Report(store audit.Store, account string, until time.Time) ([]string, error) {
	entries, err := audit.Search(store, audit.Query{Object: "account/" + account, Until: until})
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", account, err)
	}
	lines := make([]string, 0, len(entries))
	for _, entry := range entries {
		lines = append(lines, line(entry))
	}
	return lines, nil
}

func line(entry audit.Entry) string {
	return fmt.Sprintf("%s %-12s %s %s", entry.At.UTC().Format(time.RFC3339), entry.Actor, entry.Action, entry.Object)
}
