package intake

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// maxEntries bounds the number of documents in one archive.
const maxEntries = 2000

// Unpack stores the regular files of a tar stream and returns how many there were. Other entries are passed over.
func (in *Intake) Unpack(customer string, archive io.Reader) (int, error) {
	root, err := in.folder(customer)
	if err != nil {
		return 0, err
	}
	stored := 0
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return stored, nil
		}
		if err != nil {
			return stored, fmt.Errorf("intake: read archive: %w", err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if stored == maxEntries {
			return stored, fmt.Errorf("intake: more than %d documents", maxEntries)
		}
		target := filepath.Join(root, filepath.FromSlash(header.Name))
		if !strings.HasPrefix(target, root+string(filepath.Separator)) {
			return stored, fmt.Errorf("%w: %q", ErrOutside, header.Name)
		}
		if err := in.create(target, reader); err != nil {
			return stored, err
		}
		stored++
	}
}
