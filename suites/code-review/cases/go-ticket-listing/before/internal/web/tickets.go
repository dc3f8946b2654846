// Package web has the pages of the help desk.
package web

import (
	"encoding/json"
	"log"
	"net/http"

	"example.org/helpdesk/internal/tickets"
)

// Tickets answers with a page of tickets. The router has checked that a member of the support team is logged in.
type Tickets struct {
	Lister tickets.Lister
}

func (h Tickets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, err := h.Lister.Latest(r.Context())
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
