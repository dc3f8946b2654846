// Package tickets reads and writes support tickets.
package tickets

import "time"

// Ticket is one request of a customer.
type Ticket struct {
	ID       int64
	Subject  string
	State    string
	Assignee string
	Created  time.Time
}
