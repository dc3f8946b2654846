// Package assets serves the build output of the front end.
package assets

import (
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// Server serves the files of one file system.
type Server struct {
	files fs.FS
}

// NewServer serves what files contains.
func NewServer(files fs.FS) *Server {
	return &Server{files: files}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	info, err := fs.Stat(s.files, name)
	if err != nil || info.IsDir() {
		http.NotFound(w, r)
		return
	}
	http.ServeContent(w, r, name, info.ModTime(), &lazyFile{files: s.files, name: name, size: info.Size()})
}
