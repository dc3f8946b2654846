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
	tags  *tags
}

// NewServer serves what files contains.
func NewServer(files fs.FS) *Server {
	return &Server{files: files, tags: newTags(files)}
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
	tag, err := s.tags.of(name, info)
	if err != nil {
		http.Error(w, "cannot read file", http.StatusInternalServerError)
		return
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, name, info.ModTime(), &lazyFile{files: s.files, name: name, size: info.Size()})
}
