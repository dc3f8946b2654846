package tickets

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// pageSize is the number of tickets on a page.
const pageSize = 50

// maxPage keeps the offset small enough for the index to be of use.
const maxPage = 200

// orders are the values of the parameter sort. The id makes each order total.
var orders = map[string]string{
	"created":  "created DESC, id DESC",
	"priority": "priority DESC, created DESC, id DESC",
	"assignee": "assignee, created DESC, id DESC",
}

// Lister reads tickets from the database.
type Lister struct {
	DB *sql.DB
}

// List returns one page of tickets.
func (l Lister) List(ctx context.Context, f Filter) ([]Ticket, error) {
	query, args := f.query()
	rows, err := l.DB.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("tickets: list: %w", err)
	}
	defer rows.Close()
	var found []Ticket
	for rows.Next() {
		var t Ticket
		if err := rows.Scan(&t.ID, &t.Subject, &t.State, &t.Assignee, &t.Priority, &t.Created); err != nil {
			return nil, fmt.Errorf("tickets: list: %w", err)
		}
		found = append(found, t)
	}
	return found, rows.Err()
}

// query returns the statement and its arguments.
func (f Filter) query() (string, []any) {
	conditions, args := []string{"TRUE"}, []any{}
	where := func(column, value string) {
		if value != "" {
			args = append(args, value)
			conditions = append(conditions, fmt.Sprintf("%s = $%d", column, len(args)))
		}
	}
	where("state", f.State)
	where("assignee", f.Assignee)

	order, ok := orders[f.Sort]
	if !ok {
		order = orders["created"]
	}
	page := f.Page
	if page < 1 {
		page = 1
	}
	if page > maxPage {
		page = maxPage
	}
	query := fmt.Sprintf("SELECT id, subject, state, assignee, priority, created FROM tickets WHERE %s ORDER BY %s LIMIT %d OFFSET %d",
		strings.Join(conditions, " AND "), order, pageSize, (page-1)*pageSize)
	return query, args
}
