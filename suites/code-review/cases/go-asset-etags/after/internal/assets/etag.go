package assets

import (
	"crypto/sha1"
	"encoding/hex"
	"io"
	"io/fs"
	"sync"
	"time"
)

type version struct {
	size     int64
	modified time.Time
	tag      string
}

// tags computes entity tags and keeps them while size and time of modification stay the same.
type tags struct {
	files fs.FS
	mu    sync.Mutex
	known map[string]version
}

func newTags(files fs.FS) *tags {
	return &tags{files: files, known: map[string]version{}}
}

// of returns the entity tag of a file. There are as many names as files, so the map needs no bound.
func (t *tags) of(name string, info fs.FileInfo) (string, error) {
	t.mu.Lock()
	v, ok := t.known[name]
	t.mu.Unlock()
	if ok && v.size == info.Size() && v.modified.Equal(info.ModTime()) {
		return v.tag, nil
	}

	file, err := t.files.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	digest := sha1.New()
	if _, err := io.Copy(digest, file); err != nil {
		return "", err
	}
	tag := `"` + hex.EncodeToString(digest.Sum(nil)) + `"`
	t.store(name, version{size: info.Size(), modified: info.ModTime(), tag: tag})
	return tag, nil
}

func (t *tags) store(name string, v version) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[name] = v
}
