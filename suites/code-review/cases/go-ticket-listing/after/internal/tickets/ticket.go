// Package tickets reads and writes support tickets.
package tickets

import "time"

// Ticket is one request of a customer.
type Ticket struct {
	ID       int64
	Subject  string
	State    string
	Assignee string
	Priority int
	Created  time.Time
}

// Filter says which tickets to list, and how. Empty fields do not restrict the list.
type Filter struct {
	State    string
	Assignee string
	Sort     string
	Page     int
}
