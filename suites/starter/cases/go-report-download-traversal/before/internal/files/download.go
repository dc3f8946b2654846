// Package files hands out the reports that nightly jobs leave on disk.
package files

import (
	"log/slog"
	"net/http"
	"path/filepath"

	"example.com/reports/internal/auth"
)

// Server hands out reports below one root, a folder for each customer.
type Server struct {
	root string
	log  *slog.Logger
}

// New returns a server for the reports below root.
func New(root string, log *slog.Logger) *Server {
	return &Server{root: root, log: log}
}

// Routes lists what the server answers to.
func (s *Server) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /reports/latest", s.latest)
	return mux
}

func (s *Server) latest(w http.ResponseWriter, r *http.Request) {
	customer := auth.Customer(r.Context())
	s.log.Info("latest report", "customer", customer.ID)
	http.ServeFile(w, r, filepath.Join(s.root, customer.Folder, "latest.pdf"))
}
