package tickets

import (
	"context"
	"database/sql"
	"fmt"
)

// pageSize is the number of tickets on a page.
const pageSize = 50

// Lister reads tickets from the database.
type Lister struct {
	DB *sql.DB
}

// Latest returns the newest tickets.
func (l Lister) Latest(ctx context.Context) ([]Ticket, error) {
	rows, err := l.DB.QueryContext(ctx,
		"SELECT id, subject, state, assignee, created FROM tickets ORDER BY created DESC, id DESC LIMIT $1", pageSize)
	if err != nil {
		return nil, fmt.Errorf("tickets: list: %w", err)
	}
	defer rows.Close()
	var found []Ticket
	for rows.Next() {
		var t Ticket
		if err := rows.Scan(&t.ID, &t.Subject, &t.State, &t.Assignee, &t.Created); err != nil {
			return nil, fmt.Errorf("tickets: list: %w", err)
		}
		found = append(found, t)
	}
	return found, rows.Err()
}
