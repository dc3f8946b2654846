// Package web has the pages of the help desk.
package web

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"

	"example.org/helpdesk/internal/tickets"
)

// Tickets answers with a page of tickets. The router has checked that a member of the support team is logged in.
type Tickets struct {
	Lister tickets.Lister
}

func (h Tickets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	// A page that is no number is the first one.
	page, _ := strconv.Atoi(query.Get("page"))
	found, err := h.Lister.List(r.Context(), tickets.Filter{
		State:    query.Get("state"),
		Assignee: query.Get("assignee"),
		Sort:     query.Get("sort"),
		Page:     page,
	})
	if err != nil {
		log.Printf("web: %v", err)
		http.Error(w, "tickets cannot be read at the moment", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(found); err != nil {
		log.Printf("web: %v", err)
	}
}
