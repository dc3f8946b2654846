// Package files hands out the reports that nightly jobs leave on disk.
package files

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

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
	mux.HandleFunc("GET /reports/download", s.download)
	return mux
}

func (s *Server) latest(w http.ResponseWriter, r *http.Request) {
	customer := auth.Customer(r.Context())
	s.log.Info("latest report", "customer", customer.ID)
	http.ServeFile(w, r, filepath.Join(s.root, customer.Folder, "latest.pdf"))
}

// download sends the report that the query names, always as an attachment.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	customer := auth.Customer(r.Context())
	name := r.URL.Query().Get("name")
	if name == "" {
		http.Error(w, "name is missing", http.StatusBadRequest)
		return
	}

	path := filepath.Join(s.root, customer.Folder, name)
	file, err := os.Open(path)
	if err != nil {
		http.Error(w, fmt.Sprintf("cannot open %s: %v", path, err), http.StatusNotFound)
		return
	}
	info, err := file.Stat()
	if err != nil || info.IsDir() {
		http.Error(w, "not a report", http.StatusBadRequest)
		return
	}
	defer file.Close()

	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", filepath.Base(name)))
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	if _, err := io.Copy(w, file); err != nil {
		s.log.Warn("download broke off", "customer", customer.ID, "error", err)
	}
}
